import { readRepositoryFile } from '../../support/repository.ts';

/** Key and value of each assignment in the shipped unit, in its order. */
export function readUnitAssignments(): readonly (readonly [key: string, value: string])[] {
  const text = readRepositoryFile('deploy/systemd/xvs-exporter.service');
  return [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
}

/** The values that the unit gives a key. */
export function readUnitValues(key: string): readonly string[] {
  return readUnitAssignments().flatMap(([name, value]) => (name === key ? [value] : []));
}
