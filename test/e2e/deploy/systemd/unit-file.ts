import { readRepositoryFile } from '../../../support/repository.ts';

/** Reads key and value of each assignment in the shipped unit, in order. */
export function readUnitAssignments(): readonly (readonly [key: string, value: string])[] {
  const text = readRepositoryFile('deploy/systemd/xvs-exporter.service');
  return [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
}

/** Reads the values of a key of the unit. */
export function readUnitValues(key: string): readonly string[] {
  return readUnitAssignments().flatMap(([name, value]) => (name === key ? [value] : []));
}
