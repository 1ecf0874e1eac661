import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateManifest, parseManifests } from './manifests.ts';

const service = (spec: string): string =>
  `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {${spec}}}`;

test('manifests are validated against the schemas of Kubernetes, including unknown keys', async (t) => {
  const table: [string, string, readonly string[]][] = [
    ['a valid manifest', service('ports: [{port: 80, targetPort: http}]'), []],
    ['any label is allowed', service('selector: {any.thing/at-all: x}'), []],
    ['a misspelt key', service('slector: {a: b}'), ['Service a.spec.slector: not in the schema']],
    [
      'a misspelt key in a list',
      service('ports: [{port: 80}, {port: 81, protocl: TCP}]'),
      ['Service a.spec.ports.1.protocl: not in the schema'],
    ],
    [
      'a value of the wrong type',
      service('ports: [{port: http}]'),
      ['Service a: data/spec/ports/0/port must be integer'],
    ],
    ['an unknown kind', '{apiVersion: v2, kind: Service, metadata: {name: a}}', ['Service a: unknown kind']],
  ];
  for (const [name, yaml, expected] of table) {
    await t.test(name, () => {
      assert.deepEqual(parseManifests(yaml).flatMap(validateManifest), expected);
    });
  }
});
