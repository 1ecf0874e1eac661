import type { Violation } from './oracle.ts';
import type { Night } from './truth.ts';

/** A violation of the contract that stays, as deploy/prometheus/README.md says. */
interface Residue {
  readonly name: string;
  matches(night: Night, violation: Violation): boolean;
}

export const RESIDUES: readonly Residue[] = [
  {
    // The page about the first code that is seen to be empty comes before most codes are.
    name: 'codes that are polled at different intervals vanish one after another',
    matches: ({ codes }, { clause, alert }) =>
      ['told', 'once'].includes(clause) &&
      alert.includes('XvsTasksVanished') &&
      new Set(codes.map(({ intervalSeconds }) => intervalSeconds)).size > 1,
  },
  {
    // For minutes after the restart none is stalled, which is more than a tenth of an hour.
    name: 'tasks that have long been silent are new after a restart without state, where polls are minutes apart',
    matches: ({ codes, replicas }, { clause, alert, subject }) =>
      ['once', 'calm'].includes(clause) &&
      /XvsIngestSt(?:alled|opped)/.test(alert) &&
      replicas.some(({ hasState, isUp }) => !hasState && !isUp.isAlways(true)) &&
      codes.some((code) => code.serviceCode === subject['service_code'] && code.intervalSeconds > 60),
  },
  {
    // Their viewers stay where nothing comes.
    name: 'as streams end among tasks that have long been silent, viewers receive less each, and two alerts warn',
    matches: (_night, { clause, alert, reason }) =>
      clause === 'once' && alert === 'XvsEgressDropped + XvsTasksDropped' && reason.endsWith('one evening'),
  },
  {
    name: 'what is lost within two minutes after ingest has recovered is part of its stop',
    matches: ({ codes }, { clause, reason, subject }) => {
      const code = codes.find(({ serviceCode }) => serviceCode === subject['service_code']);
      const cuts = (code?.incidents ?? []).filter(({ kind }) => kind === 'ingest cut');
      return (
        clause === 'told' &&
        reason.includes('XvsIngestStopped') &&
        cuts.some(({ to }) => code?.incidents.some(({ from }) => from >= to && from <= to + 180))
      );
    },
  },
  {
    name: 'a server that leaves while an exporter without state does not run is not missed',
    matches: ({ replicas }, { alert }) =>
      alert === 'XvsServerDisappeared' &&
      replicas.every(({ hasState, isUp }) => !hasState && !isUp.isAlways(true)),
  },
];

/** Returns the name of the residue that a violation belongs to. */
export function findResidue(night: Night, violation: Violation): string | undefined {
  return RESIDUES.find((residue) => residue.matches(night, violation))?.name;
}
