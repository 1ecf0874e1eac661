import { listAlertConditions, type AlertCondition } from './alert-conditions.ts';
import type { Labels } from './evaluation.ts';
import { isSilencedBy, type SentAlert } from './notifications.ts';
import { STEPS_OF_MINUTE, type Night, type NightCode } from './truth.ts';

/** A clause of the contract: told, not over, once, calm. */
export type Clause = 'told' | 'not over' | 'once' | 'calm';

export interface Violation {
  readonly clause: Clause;
  readonly minute: number;
  readonly alert: string;
  readonly subject: Labels;
  readonly reason: string;
}

type Sent = readonly (readonly SentAlert[])[];

/** An alert goes on for minutes after its cause, so what it hides is not sent. */
const KEEP_FIRING_MINUTES = 12;

const isShown = ({ hiddenBy }: SentAlert): boolean => hiddenBy === undefined;

function isAbout(labels: Labels, { alert, subject }: AlertCondition): boolean {
  return (
    labels['alertname'] === alert &&
    Object.entries(subject).every(([label, value]) => labels[label] === value)
  );
}

/** Compares what receivers are told in a night with what is true. */
export function checkNight(night: Night, sent: Sent): readonly Violation[] {
  const conditions = listAlertConditions(night);
  return [
    ...conditions.flatMap((condition) => checkCondition(night, condition, conditions, sent)),
    ...checkCalm(conditions, sent),
    ...night.codes.flatMap((code) => checkOnce(code, sent)),
  ];
}

/** Whether an alert that may stand for another is true, and about the same subject or its service code. */
function isTrueCause(
  { labels }: SentAlert,
  condition: AlertCondition,
  all: readonly AlertCondition[],
  minute: number,
): boolean {
  const { alertname = '', service_code: code } = labels;
  if (!condition.causes.includes(alertname)) return false;
  if (code === undefined) return true;
  const { subject } = condition;
  if (Object.entries(subject).some(([label, value]) => label in labels && labels[label] !== value))
    return false;
  const own = all.filter((one) => isAbout(labels, one));
  const from = Math.max(0, minute - KEEP_FIRING_MINUTES);
  return own.some((one) =>
    Array.from({ length: minute - from + 1 }, (_, past) =>
      one.mayHold((from + past) * STEPS_OF_MINUTE),
    ).includes(true),
  );
}

/** The first violation of "told" or "not over" of each time for which a condition lasts. */
function checkCondition(
  { silences }: Night,
  condition: AlertCondition,
  all: readonly AlertCondition[],
  sent: Sent,
): readonly Violation[] {
  const violations: Violation[] = [];
  const { alert, subject, minutes } = condition;
  let since: number | undefined;
  let isNotified = false;
  let isReported = false;
  for (const [minute, alerts] of sent.entries()) {
    const labels = { alertname: alert, ...subject };
    const isSilenced = silences.some(
      (silence) => minute * 60 >= silence.from && minute * 60 < silence.to && isSilencedBy(labels, silence),
    );
    if (!condition.holds(minute * STEPS_OF_MINUTE) || isSilenced) {
      [since, isNotified, isReported] = [undefined, false, false];
      continue;
    }
    const own = alerts.find((one) => isAbout(one.labels, condition));
    const cause = alerts.find(
      (one) => (isShown(one) || one.hiddenBy === 'a silence') && isTrueCause(one, condition, all, minute),
    );
    const isKnown = condition.isKnown(minute * STEPS_OF_MINUTE);
    if (!isNotified && !isKnown) since = undefined;
    else since ??= minute;
    if (own && isShown(own)) isNotified = true;
    else if (cause) {
      // Another alert has taken its place.
      if (own === undefined) isNotified = false;
      since = minute;
    } else if (!isReported) {
      const found = (clause: Clause, reason: string): void => {
        violations.push({ clause, minute, alert, subject, reason });
        isReported = true;
      };
      if (isNotified && own === undefined) found('not over', 'resolved while it holds');
      else if (!isNotified && since !== undefined && minute - since >= minutes)
        found('told', own === undefined ? 'does not fire' : `is hidden by ${describe(own.hiddenBy)}`);
    }
  }
  return violations;
}

function describe(hiddenBy: SentAlert['hiddenBy']): string {
  return typeof hiddenBy === 'object' ? hiddenBy.source_matchers.join(' ') : String(hiddenBy);
}

/** Pages that begin while what they say is not so. */
function checkCalm(conditions: readonly AlertCondition[], sent: Sent): readonly Violation[] {
  return sent.flatMap((alerts, minute) => {
    const before = new Set(
      (sent[minute - 1] ?? []).filter(isShown).map(({ labels }) => JSON.stringify(labels)),
    );
    return alerts
      .filter((one) => isShown(one) && one.labels['severity'] === 'critical')
      .filter(({ labels }) => !before.has(JSON.stringify(labels)))
      .flatMap(({ labels }): Violation[] => {
        const own = conditions.filter((condition) => isAbout(labels, condition));
        const { alertname: alert = '', severity: _, layer: __, ...subject } = labels;
        if (own.length === 0 || own.some((condition) => condition.mayHold(minute * STEPS_OF_MINUTE)))
          return [];
        return [
          { clause: 'calm', minute, alert, subject, reason: 'a page for a condition that does not hold' },
        ];
      });
  });
}

/**
 * One cause is one page and one warning: a code to which one thing happens has one alert of each severity.
 */
function checkOnce({ serviceCode, incidents }: NightCode, sent: Sent): readonly Violation[] {
  const [incident, ...others] = incidents;
  if (incident === undefined || others.length > 0) return [];
  return (['critical', 'warning'] as const).flatMap((severity) => {
    const kinds = new Map<string, number>();
    for (const [minute, alerts] of sent.entries())
      for (const one of alerts) {
        const { alertname = '', service_code: code, layer, severity: own } = one.labels;
        if (!isShown(one) || own !== severity || code !== serviceCode || layer !== 'data') continue;
        // They are about different subjects: a server, and the tasks of a code.
        if (alertname === 'XvsServerDisappeared') continue;
        const kind = /Expected/.test(alertname) ? 'expected streams' : alertname;
        if (!kinds.has(kind)) kinds.set(kind, minute);
      }
    if (kinds.size < 2) return [];
    return [
      {
        clause: 'once',
        minute: Math.max(...kinds.values()),
        alert: [...kinds.keys()].toSorted().join(' + '),
        subject: { service_code: serviceCode },
        reason: `${severity}, for one ${incident.kind}`,
      },
    ];
  });
}
