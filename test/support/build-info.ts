import type { BuildInfo } from '../../src/app.ts';

export const BUILD: BuildInfo = {
  version: '0.0.0',
  revision: 'test',
  nodeVersion: process.version,
  command: ['xvs-exporter'],
  runbookUrl: 'https://docs.example.com/runbook.md',
};
