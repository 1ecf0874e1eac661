import { dirname } from 'node:path';
import type { InnerPath } from './format.ts';
import type { Entry } from './layers.ts';
import { nearestHint } from './nearest.ts';
import type { Problem } from './problem.ts';
import { kindOf, mismatch, show } from './problem.ts';
import { isSettingPath, settingEntries } from './settings.ts';
import type { YamlSource } from './yaml-source.ts';
import { parseYaml } from './yaml-source.ts';

/** What a configuration file gives: its settings, and what in it is none. */
export interface SettingsFile {
  readonly entries: readonly Entry[];
  readonly problems: readonly Problem[];
}

/** Reads the text of a configuration file; `file` is its path. Values are not parsed yet. */
export function parseSettingsFile(text: string, file: string): SettingsFile {
  const source = parseYaml(text, file);
  if ('message' in source) return { entries: [], problems: [source] };
  return readGroup(source, file, source.value, []);
}

function readGroup(source: YamlSource, file: string, value: unknown, path: readonly string[]): SettingsFile {
  // An empty file, or a group with all its settings commented out.
  if (value === null || value === undefined) return { entries: [], problems: [] };
  if (typeof value !== 'object' || Array.isArray(value)) {
    const place = placeIn(source, path)();
    // Not shown: a text in place of a group may be anything, a secret too.
    return { entries: [], problems: [{ place, message: mismatch('a mapping of settings', kindOf(value)) }] };
  }
  const parts = Object.entries(value).map(([key, child]) => readKey(source, file, child, [...path, key]));
  return {
    entries: parts.flatMap(({ entries }) => entries),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

function readKey(source: YamlSource, file: string, value: unknown, path: readonly string[]): SettingsFile {
  const dotted = path.join('.');
  const known = fileKeys();
  if (isSettingPath(dotted) && known.includes(dotted) && path.length === dotted.split('.').length) {
    const entry = { path: dotted, raw: value, folder: dirname(file), place: placeIn(source, path) };
    return { entries: [entry], problems: [] };
  }
  const isGroup = !path.some((key) => key.includes('.')) && known.some((key) => key.startsWith(`${dotted}.`));
  if (isGroup) return readGroup(source, file, value, path);
  const message = mismatch('a known key', show(path.at(-1)), hintFor(path, known));
  return { entries: [], problems: [{ place: placeIn(source, path)([], true), message }] };
}

function hintFor(path: readonly string[], known: readonly string[]): string | undefined {
  const [key = ''] = path;
  const [group, rest] = key.split('.');
  if (path.length === 1 && rest !== undefined && known.includes(key))
    return `write ${rest} in the mapping ${group}`;
  const siblings = new Set(known.flatMap((candidate) => siblingOf(candidate, path)));
  return nearestHint(path.at(-1) ?? '', [...siblings]);
}

function fileKeys(): readonly string[] {
  return settingEntries().flatMap(([path, { notFrom }]) => (notFrom === 'file' ? [] : [path]));
}

/** The part of a known key that could stand where the last step of the path does. */
function siblingOf(key: string, path: readonly string[]): readonly string[] {
  const steps = key.split('.');
  const step = steps[path.length - 1];
  return step !== undefined && path.slice(0, -1).every((own, depth) => own === steps[depth]) ? [step] : [];
}

/** Names what stands in a source, with its place: `/etc/xvs.yml:7:13 poll.interval`; `path` leads to where it begins. */
export function placeIn(source: YamlSource, path: readonly string[]) {
  return (inner: InnerPath = [], ofKey = false): string => {
    const full = [...path, ...inner];
    const name = full.reduce<string>((text, step) => text + nameOf(step, text), '');
    return `${source.at(full, ofKey)} ${name}`.trimEnd();
  };
}

function nameOf(step: string | number, before: string): string {
  if (typeof step === 'number') return `[${step}]`;
  const word = /^[\w.-]+$/.test(step) ? step : show(step);
  return before === '' ? word : `.${word}`;
}
