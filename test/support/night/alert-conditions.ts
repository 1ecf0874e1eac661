import { CodeTruth, readLevel, SILENCE_SECONDS, trackLoss } from './code-truth.ts';
import type { Labels } from './evaluation.ts';
import { STEP_SECONDS, STEPS, STEPS_OF_MINUTE, type Night } from './truth.ts';

/** What an alert promises to tell of a subject. */
export interface AlertCondition {
  readonly alert: string;
  readonly severity: 'critical' | 'warning';
  /** The labels that name the subject. */
  readonly subject: Labels;
  /** Minutes from the first listing that shows it to its notification, at most. */
  readonly minutes: number;
  /** Alerts of the same service code that may stand for it while they are true. */
  readonly causes: readonly string[];
  /** Whether an alert is due at a step. */
  holds(step: number): boolean;
  /** Whether an alert is allowed: its condition holds, held a moment ago, or nearly holds. */
  mayHold(step: number): boolean;
  /** Whether current listings show it. */
  isKnown(step: number): boolean;
}

const EXPORTER = ['XvsExporterDown', 'XvsExporterAbsent', 'XvsServiceCodeUnwatched', 'XvsNoServiceCodes'];
const API = ['XvsApiDown', ...EXPORTER];
const INGEST = ['XvsIngestStopped', ...API];
const ALL_TASKS = ['XvsTasksVanished', ...INGEST];

/** Lists all conditions of a night. */
export function listAlertConditions(night: Night): readonly AlertCondition[] {
  const truths = night.codes.map((code) => new CodeTruth(night, code));
  const exporter = truths[0];
  if (exporter === undefined) return [];
  return [
    {
      alert: 'XvsExporterDown',
      severity: 'critical',
      subject: {},
      minutes: 7,
      causes: [],
      holds: (step) => !exporter.isWatched(step),
      mayHold: (step) => !exporter.isWatched(step),
      isKnown: () => true,
    },
    listServiceCodesDropped(night),
    ...truths.flatMap((truth) => listAlertConditionsOfCode(truth, truths)),
  ];
}

function listServiceCodesDropped(night: Night): AlertCondition {
  const count = (step: number): number =>
    night.codes.filter(({ isConfigured }) => isConfigured.at(step * STEP_SECONDS)).length;
  const all = night.codes.length;
  const dropped = trackLoss(
    (step) =>
      all >= 4 && count(step) > 0 && count(step) < 0.5 * all && count(step - 1) >= 0.5 * all
        ? all
        : undefined,
    (step, before) => count(step) >= 0.5 * before,
  );
  const holds = (step: number): boolean => dropped.has(step);
  return {
    alert: 'XvsServiceCodesDropped',
    severity: 'warning',
    subject: {},
    minutes: 7,
    causes: EXPORTER,
    holds,
    mayHold: holds,
    // The codes of a process that restarts are missing for a while.
    isKnown: (step) => night.replicas.every(({ isUp }) => isUp.at(step * STEP_SECONDS)),
  };
}

function listAlertConditionsOfCode(truth: CodeTruth, all: readonly CodeTruth[]): readonly AlertCondition[] {
  const { code, intervalMinutes } = truth;
  const { serviceCode, names, servers, expectedTasks } = code;
  const create = (
    alert: string,
    severity: AlertCondition['severity'],
    minutes: number,
    causes: readonly string[],
    holds: (step: number) => boolean,
    more: Partial<AlertCondition> = {},
  ): AlertCondition => ({
    alert,
    severity,
    subject: { service_code: serviceCode, ...more.subject },
    minutes: Math.ceil(minutes + 2 * intervalMinutes),
    causes,
    holds: (step) => truth.isConfigured(step) && holds(step),
    mayHold:
      more.mayHold ?? ((step) => truth.any(step - 2 * STEPS_OF_MINUTE - truth.intervalSteps, step, holds)),
    isKnown: more.isKnown ?? ((step) => truth.isKnown(step)),
  });
  const recently = (holds: (step: number) => boolean, minutes: number): Pick<AlertCondition, 'mayHold'> => ({
    mayHold: (step) => truth.any(step - minutes * STEPS_OF_MINUTE - 2 * truth.intervalSteps, step, holds),
  });

  const named = names.flatMap((name) => {
    const isDown = (step: number): boolean => !truth.isUp(name, step);
    const subject = { service_code: serviceCode, task_name: name };
    const hasFewOutputs = (step: number): boolean => truth.hasFewOutputs(name, step);
    const isSlow = (step: number): boolean => truth.isSlow(name, step);
    return [
      create('XvsExpectedTaskDown', 'critical', 4, ALL_TASKS, (step) => truth.isBad(isDown, step), {
        subject,
        mayHold: (step) => recently(isDown, 3).mayHold(step) || truth.comesAndGoes(isDown, step),
      }),
      create(
        'XvsRenditionMissing',
        'warning',
        7,
        ['XvsExpectedTaskDown', ...ALL_TASKS],
        (step) => truth.isBad(hasFewOutputs, step) && truth.isUp(name, step),
        { subject },
      ),
      ...(code.intervalSeconds > 60
        ? []
        : [
            create('XvsExpectedTaskSlow', 'critical', 6, ['XvsExpectedTaskDown', ...ALL_TASKS], isSlow, {
              subject,
              ...recently((step) => isSlow(step) || isDown(step), 5),
            }),
          ]),
    ];
  });

  const isBelow = (step: number): boolean =>
    expectedTasks.at(step * STEP_SECONDS) - truth.receiving(step) >
    names.filter((name) => !truth.isUp(name, step)).length;
  const isBelowAny = (step: number): boolean => expectedTasks.at(step * STEP_SECONDS) > truth.receiving(step);
  const stopped = truth.findStops(2, 0.55, SILENCE_SECONDS);
  // What recovers while the code is not known, and is lost again, has not been seen to recover.
  const maybeStopped = new Set(
    [2, 14].flatMap((minutes) => [...truth.findStops(minutes, 0.4, 0, (step) => truth.isKnown(step))]),
  );
  const vanished = findVanishing(truth, all, 2, (one, step) => one.isKnown(step));
  const maybeVanished = findVanishing(truth, all, 14);
  const dropped = trackLoss(
    (step) => truth.findDrop((at) => truth.listed(at), step, 10, 3),
    (step, before) => truth.listed(step) >= 0.5 * before,
  );
  const usersDropped = trackLoss(
    (step) => truth.findDrop((at) => truth.users(at), step, 20, Infinity),
    (step, before) => truth.users(step) >= 0.5 * before,
  );

  return [
    ...named,
    create(
      'XvsTasksBelowExpected',
      'critical',
      4,
      ALL_TASKS,
      (step) => truth.isBad(isBelow, step),
      recently(isBelowAny, 3),
    ),
    create(
      'XvsApiDown',
      'critical',
      5,
      EXPORTER,
      (step) => truth.isSilentApi(step),
      recently((step) => truth.isSilentApi(step), 2),
    ),
    ...(code.intervalSeconds > 30
      ? []
      : [
          create('XvsApiErrorRatio', 'warning', 13, API, (step) => truth.failedShare(step) >= 0.2, {
            // A process that starts has no rate of the time before.
            isKnown: (step) => truth.all(step - STEPS_OF_MINUTE, step, (at) => truth.isWatched(at)),
          }),
        ]),
    create('XvsIngestStopped', 'critical', 4, [...API, 'XvsTasksVanished'], (step) => stopped.has(step), {
      mayHold: (step) =>
        truth.any(step - 4 * STEPS_OF_MINUTE - truth.intervalSteps, step, (at) => maybeStopped.has(at)),
    }),
    create(
      'XvsTasksVanished',
      'critical',
      4 + 2 * Math.max(...all.map((one) => one.intervalMinutes)),
      ALL_TASKS,
      (step) => vanished.has(step),
      {
        mayHold: (step) =>
          truth.any(step - 2 * STEPS_OF_MINUTE - truth.intervalSteps, step, (at) => maybeVanished.has(at)),
      },
    ),
    create('XvsTasksDropped', 'warning', 5, ALL_TASKS, (step) => dropped.has(step)),
    create(
      'XvsUsersDropped',
      'warning',
      7,
      ['XvsTasksDropped', 'XvsDeliveryBlackhole', ...ALL_TASKS],
      (step) => usersDropped.has(step),
    ),
    ...(code.intervalSeconds > 120
      ? []
      : servers.map((server) => {
          const fails = truth.findBlackholes(server);
          return create('XvsDeliveryBlackhole', 'critical', 6, ALL_TASKS, (step) => fails.has(step), {
            subject: { service_code: serviceCode, vs_id: server },
            mayHold: (step) =>
              truth.any(step - 12 * STEPS_OF_MINUTE, step, (at) => truth.deliversNothing(server, at)),
          });
        })),
    ...(code.intervalSeconds > 60 ? [] : servers).map((server) =>
      create('XvsIngestStalled', 'warning', 7, ALL_TASKS, (step) => truth.countStalled(server, step) >= 3, {
        subject: { service_code: serviceCode, vs_id: server },
      }),
    ),
    ...servers.map((server) => {
      const left = truth.findDepartures(server);
      return create(
        'XvsServerDisappeared',
        'warning',
        8 + 3 * intervalMinutes,
        ALL_TASKS,
        (step) => left.has(step),
        {
          subject: { service_code: serviceCode, vs_id: server },
        },
      );
    }),
  ];
}

/** The steps at which a code has lost all tasks, as most codes have within some minutes. */
function findVanishing(
  truth: CodeTruth,
  all: readonly CodeTruth[],
  minutes: number,
  isSeen: (one: CodeTruth, step: number) => boolean = () => true,
): ReadonlySet<number> {
  const hasLostAll = (one: CodeTruth, step: number): boolean =>
    one.isConfigured(step) && one.listed(step) === 0 && one.listed(step - minutes * STEPS_OF_MINUTE) > 0;
  const begins = (step: number): boolean => {
    const running = all.filter(
      (one) => one.isConfigured(step) && one.listed(step - minutes * STEPS_OF_MINUTE) > 0,
    ).length;
    return (
      running >= 3 && all.filter((one) => hasLostAll(one, step) && isSeen(one, step)).length > running / 2
    );
  };
  return trackLoss(
    (step) =>
      hasLostAll(truth, step) && begins(step)
        ? readLevel((at) => truth.listed(at), step - minutes * STEPS_OF_MINUTE)
        : undefined,
    (step) => truth.listed(step) > 0 || step >= STEPS,
  );
}
