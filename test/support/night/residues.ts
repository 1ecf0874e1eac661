import type { Violation } from './oracle.ts';
import { NIGHT_SECONDS, type Incident, type Night, type NightCode, type Replica } from './truth.ts';

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
    name: 'what is lost while an exporter without state does not run is not told, or for ten minutes',
    matches: ({ replicas }, { clause, alert, subject }, { incidents, answers, intervalSeconds }) =>
      ['told', 'not over'].includes(clause) &&
      /Xvs(?:ServerDisappeared|TasksVanished|TasksDropped|UsersDropped)/.test(alert) &&
      incidents.some(
        ({ from, about }) =>
          (subject['vs_id'] === undefined || subject['vs_id'] === about) &&
          replicas.every(
            (replica) =>
              !replica.hasState &&
              listStops(replica).some(
                (stop) => from < stop.to && !hasListing(answers, intervalSeconds, from, stop.from),
              ),
          ),
      ),
  },
  {
    // What hides them fires after three minutes, and they hold for two.
    name: 'alerts end minutes after all exporters, before the alert on the exporter begins',
    matches: ({ replicas }, { clause, minute }) =>
      clause === 'not over' &&
      replicas.every((replica) => listStops(replica).some(({ from }) => isWithin(minute, from, 5 * 60))),
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

/** Whether a good listing is taken in a time. */
function hasListing(
  answers: NightCode['answers'],
  intervalSeconds: number,
  from: number,
  to: number,
): boolean {
  for (let poll = Math.ceil(from / intervalSeconds) * intervalSeconds; poll < to; poll += intervalSeconds)
    if (answers.at(poll)) return true;
  return false;
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
