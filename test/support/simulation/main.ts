import { parseArgs } from 'node:util';
import { Simulation } from './simulation.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, years: { type: 'string', default: '1' } },
});
const years = Number(values.years);
const report = await new Simulation(Number(values.seed)).run((progress) => progress.years >= years);
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit();
