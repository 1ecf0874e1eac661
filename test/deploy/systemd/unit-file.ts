import { repositoryText } from '../../support/repository.ts';

/** Key and value of each assignment in the shipped unit, in its order. */
export function unitAssignments(): readonly (readonly [key: string, value: string])[] {
  const text = repositoryText('deploy/systemd/xvs-exporter.service');
  return [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
}

/** The values that the unit gives a key. */
export function unitValues(key: string): readonly string[] {
  return unitAssignments().flatMap(([name, value]) => (name === key ? [value] : []));
}
