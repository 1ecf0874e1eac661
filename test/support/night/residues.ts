import type { Violation } from './oracle.ts';
import {
  isLongSilent,
  isNameUp,
  NIGHT_SECONDS,
  type Incident,
  type Night,
  type NightCode,
  type Replica,
} from './truth.ts';

/** A violation of the contract that stays, as deploy/prometheus/README.md says. */
interface Residue {
  readonly name: string;
  matches(night: Night, violation: Violation, code: NightCode): boolean;
}

/** Seconds of a night, the first and the one after the last. */
type Span = Pick<Incident, 'from' | 'to'>;

export const RESIDUES: readonly Residue[] = [
  {
    // The page about the first code that is seen to be empty comes before most codes are.
    name: 'codes that are polled at different intervals vanish one after another',
    matches: ({ codes }, { clause, alert, minute }, code) => {
      const loss = findIncident(code, 'loss of all');
      if (clause !== 'once' || alert !== 'XvsTasksVanished + expected streams' || !loss) return false;
      const intervals = codes.flatMap((one) =>
        findIncident(one, 'loss of all')?.from === loss.from ? one.intervalSeconds : [],
      );
      const longest = Math.max(...intervals);
      return Math.min(...intervals) < longest && isWithin(minute, loss.from, 5 * 60 + 2 * longest);
    },
  },
  {
    // For minutes after the restart none is stalled, which is more than a tenth of an hour.
    name: 'tasks that have long been silent are new after a restart without state, where polls are minutes apart',
    matches: ({ replicas }, { clause, alert, minute }, { tasks, intervalSeconds }) =>
      ['once', 'calm'].includes(clause) &&
      /XvsIngestSt(?:alled|opped)/.test(alert) &&
      intervalSeconds > 60 &&
      tasks.some(isLongSilent) &&
      replicas
        .filter(({ hasState }) => !hasState)
        .flatMap(listStops)
        .some(({ to }) => isWithin(minute, to, 15 * 60 + 2 * intervalSeconds)),
  },
  {
    name: 'tasks that have long been silent are new where their server left and comes back',
    matches: (_night, { clause, alert, minute }, { tasks, incidents, intervalSeconds }) =>
      ['once', 'calm'].includes(clause) &&
      alert.includes('XvsIngestStopped') &&
      incidents.some(
        ({ kind, about, to }) =>
          kind === 'server leaves' &&
          tasks.some((task) => task.server === about && isLongSilent(task)) &&
          isWithin(minute, to, 10 * 60 + 2 * intervalSeconds),
      ),
  },
  {
    // Their viewers stay where nothing comes.
    name: 'as streams end among tasks that have long been silent, viewers receive less each, and two alerts warn',
    matches: (_night, { clause, alert, reason }, { tasks }) =>
      clause === 'once' &&
      alert === 'XvsEgressDropped + XvsTasksDropped' &&
      reason.endsWith('one evening') &&
      tasks.some(isLongSilent),
  },
  {
    name: 'what is lost within two minutes after ingest has recovered is part of its stop',
    matches: (_night, { clause, minute, reason }, { incidents, intervalSeconds }) =>
      clause === 'told' &&
      reason.includes('XvsIngestStopped') &&
      incidents.some(
        ({ kind, to }) =>
          kind === 'ingest cut' &&
          incidents.some(
            ({ from }) =>
              from >= to && from <= to + 2 * 60 + intervalSeconds && isWithin(minute, from, 60 * 60),
          ),
      ),
  },
  {
    // It keeps firing for five minutes.
    name: 'a stream that recovers minutes before the end of the alert that hides it is reported then',
    matches: (_night, { clause, alert, subject, minute }, code) => {
      const { task_name: name = '' } = subject;
      const seconds = 5 * 60 + 2 * code.intervalSeconds;
      return (
        clause === 'calm' &&
        alert === 'XvsExpectedTaskDown' &&
        code.incidents.some(({ kind, to }) => kind === 'ingest cut' && isWithin(minute, to, 10 * 60)) &&
        Array.from({ length: seconds }, (_, past) => minute * 60 - past).some(
          (second) => !isNameUp(code, name, second),
        )
      );
    },
  },
  {
    name: 'a server that leaves while an exporter without state does not run is not missed',
    matches: ({ replicas }, { clause, alert, subject }, { incidents, intervalSeconds }) =>
      clause === 'told' &&
      alert === 'XvsServerDisappeared' &&
      incidents.some(
        ({ kind, from, about }) =>
          kind === 'server leaves' &&
          about === subject['vs_id'] &&
          replicas.every(
            (replica) =>
              !replica.hasState &&
              listStops(replica).some((stop) => from >= stop.from - intervalSeconds && from < stop.to),
          ),
      ),
  },
];

/** Returns the name of the residue that a violation belongs to. */
export function findResidue(night: Night, violation: Violation): string | undefined {
  const code = night.codes.find(({ serviceCode }) => serviceCode === violation.subject['service_code']);
  if (code === undefined) return undefined;
  return RESIDUES.find((residue) => residue.matches(night, violation, code))?.name;
}

function findIncident({ incidents }: NightCode, kind: string): Incident | undefined {
  return incidents.find((incident) => incident.kind === kind);
}

function isWithin(minute: number, from: number, seconds: number): boolean {
  return minute * 60 >= from && minute * 60 <= from + seconds;
}

/** The times in which a process did not run. */
function listStops({ isUp }: Replica): readonly Span[] {
  const stops: Span[] = [];
  let from: number | undefined;
  for (let second = 0; second <= NIGHT_SECONDS; second += 1) {
    if (!isUp.at(second)) from ??= second;
    else if (from !== undefined) {
      stops.push({ from, to: second });
      from = undefined;
    }
  }
  return stops;
}
