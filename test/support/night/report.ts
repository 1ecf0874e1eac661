import { evaluateRules, type FiringAlerts } from './evaluation.ts';
import { notify, readInhibitions, type SentAlert } from './notifications.ts';
import { checkNight, type Violation } from './oracle.ts';
import { findResidue } from './residues.ts';
import { imagineNight } from './script.ts';
import { exposeNight } from './series.ts';
import type { Night } from './truth.ts';

/** The texts of the two files that decide what receivers are told. */
export interface AlertFiles {
  readonly rules: string;
  readonly alertmanager: string;
  readonly promtool?: string;
}

export interface NightReport {
  readonly night: Night;
  readonly sent: readonly (readonly SentAlert[])[];
  readonly violations: readonly Violation[];
  /** Violations that stay, by name. */
  readonly residues: readonly string[];
}

/** Runs a night through the rules and Alertmanager's inhibitions, and checks what receivers are told. */
export async function runNight(seed: number, files: AlertFiles): Promise<NightReport> {
  return checkAlerts(seed, await evaluateNight(seed, files), files);
}

/** Evaluates the rules on a night, which takes seconds. */
export async function evaluateNight(
  seed: number,
  { rules, promtool }: Pick<AlertFiles, 'rules' | 'promtool'>,
): Promise<FiringAlerts> {
  const night = imagineNight(seed);
  const evaluations = await Promise.all(
    night.phases.map((phase) => evaluateRules(rules, exposeNight(night, phase), promtool)),
  );
  // Two Prometheus that send the same alert send one.
  return (evaluations[0] ?? []).map((_, minute) => {
    const alerts = evaluations.flatMap((evaluation) => evaluation[minute] ?? []);
    return [...new Map(alerts.map((labels) => [JSON.stringify(labels), labels])).values()];
  });
}

/** Checks what receivers are told of the alerts that fire in a night. */
export function checkAlerts(
  seed: number,
  firing: FiringAlerts,
  { alertmanager }: Pick<AlertFiles, 'alertmanager'>,
): NightReport {
  const night = imagineNight(seed);
  const sent = notify(firing, readInhibitions(alertmanager), night.silences);
  const found = checkNight(night, sent);
  return {
    night,
    sent,
    violations: found.filter((violation) => findResidue(night, violation) === undefined),
    residues: [...new Set(found.flatMap((violation) => findResidue(night, violation) ?? []))],
  };
}

/** Says what is wrong, and how the night went: seed, minute, clause, subject, script. */
export function formatReport({ night, violations }: NightReport): string {
  const lines = violations.map(
    ({ clause, minute, alert, subject, reason }) =>
      `  ${clause}: ${[alert, ...Object.values(subject)].join(' ')}, minute ${minute}: ${reason}`,
  );
  return [`seed ${night.seed}: ${night.script.join('; ')}`, ...lines].join('\n');
}
