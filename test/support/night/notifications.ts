import { parse } from 'yaml';
import { z } from 'zod';
import type { FiringAlerts, Labels } from './evaluation.ts';
import type { Silence } from './truth.ts';

const inhibitionSchema = z.object({
  source_matchers: z.array(z.string()),
  target_matchers: z.array(z.string()),
  equal: z.array(z.string()).default([]),
});

export type Inhibition = z.infer<typeof inhibitionSchema>;

/** An alert that fires, and what hides it from the receivers. */
export interface SentAlert {
  readonly labels: Labels;
  readonly hiddenBy: 'a silence' | Inhibition | undefined;
}

/** Reads the inhibitions of a configuration of Alertmanager. */
export function readInhibitions(alertmanager: string): readonly Inhibition[] {
  const schema = z.looseObject({ inhibit_rules: z.array(inhibitionSchema) });
  return schema.parse(parse(alertmanager)).inhibit_rules;
}

/** Applies inhibitions and silences to the alerts of each minute. */
export function notify(
  firing: FiringAlerts,
  inhibitions: readonly Inhibition[],
  silences: readonly Silence[],
): readonly (readonly SentAlert[])[] {
  return firing.map((alerts, minute) => {
    const active = silences.filter(({ from, to }) => minute * 60 >= from && minute * 60 < to);
    return alerts.map((labels) => ({ labels, hiddenBy: findWhatHides(labels, alerts, inhibitions, active) }));
  });
}

/**
 * Finds what hides an alert, as Alertmanager does: a label that is missing is empty, a silenced alert
 * inhibits too, and an alert that both sides of a rule match is not inhibited by another such alert.
 */
export function findWhatHides(
  target: Labels,
  firing: readonly Labels[],
  inhibitions: readonly Inhibition[],
  silences: readonly Pick<Silence, 'matchers'>[],
): SentAlert['hiddenBy'] {
  if (silences.some((silence) => isSilencedBy(target, silence))) return 'a silence';
  return inhibitions.find(
    ({ source_matchers: sources, target_matchers: targets, equal }) =>
      matchesAll(target, targets) &&
      firing.some(
        (source) =>
          matchesAll(source, sources) &&
          !(matchesAll(target, sources) && matchesAll(source, targets)) &&
          equal.every((label) => (source[label] ?? '') === (target[label] ?? '')),
      ),
  );
}

export function isSilencedBy(labels: Labels, { matchers }: Pick<Silence, 'matchers'>): boolean {
  return Object.entries(matchers).every(([label, value]) => labels[label] === value);
}

/** Whether labels match all matchers: a label that is missing is empty, and expressions are anchored. */
export function matchesAll(labels: Labels, matchers: readonly string[]): boolean {
  return matchers.every((matcher) => {
    const [, label = '', operator = '', operand = ''] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(matcher) ?? [];
    const value = labels[label] ?? '';
    const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${operand})$`).test(value) : value === operand;
    return operator.startsWith('!') ? !isEqual : isEqual;
  });
}
