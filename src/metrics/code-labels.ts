import { NO_LABELS, type Family, type Sample, type StaticLabels } from './family.ts';

/** A service code and its labels. */
export interface LabelledCode {
  readonly serviceCode: string;
  readonly labels: StaticLabels;
}

/**
 * The static labels of the service codes that have any. They are no part of what is polled or counted: they are put on
 * when that is shown, so that other labels disturb neither.
 */
export class CodeLabels {
  readonly #byCode = new Map<string, StaticLabels>();
  /** One object for all codes with the same labels. */
  #shared = new Map<string, StaticLabels>();

  /** Of a service code without labels, or that is not known, none. */
  of(serviceCode: string): StaticLabels {
    return this.#byCode.get(serviceCode) ?? NO_LABELS;
  }

  /**
   * Takes the labels of these codes, and gives the codes that had other ones, or none. Labels that are as before stay
   * the same object: by it, what was rendered with them is found again.
   */
  set(codes: Iterable<LabelledCode>): readonly string[] {
    const relabelled: string[] = [];
    for (const { serviceCode, labels } of codes) {
      const after = this.#share(labels);
      if (after === this.#byCode.get(serviceCode)) continue;
      relabelled.push(serviceCode);
      if (after === undefined) this.#byCode.delete(serviceCode);
      else this.#byCode.set(serviceCode, after);
    }
    return relabelled;
  }

  /** Forgets all codes but these. */
  keepOnly(codes: Iterable<LabelledCode>): void {
    const kept = new Set(Array.from(codes, ({ serviceCode }) => serviceCode));
    for (const serviceCode of this.#byCode.keys()) {
      if (!kept.has(serviceCode)) this.#byCode.delete(serviceCode);
    }
    this.#shared = new Map([...this.#byCode.values()].map((labels) => [keyOf(labels), labels]));
  }

  /** A part of a family all of whose samples are of one service code, with its labels. */
  label(family: Family, serviceCode: string): Family {
    const staticLabels = this.#byCode.get(serviceCode);
    return staticLabels === undefined ? family : { ...family, staticLabels };
  }

  /**
   * A family with samples of several service codes, in parts with the labels of each; as it is where there are none. What
   * has no labels stands first.
   */
  split(family: Family): readonly Family[] {
    const at = family.spec.labels.indexOf('service_code');
    if (at < 0 || this.#byCode.size === 0) return [family];
    const plain: Sample[] = [];
    const labelled = new Map<StaticLabels, Sample[]>();
    for (const sample of family.samples) {
      const staticLabels = this.#byCode.get(sample.labels[at] ?? '');
      const part = staticLabels === undefined ? plain : labelled.get(staticLabels);
      if (part !== undefined) part.push(sample);
      else if (staticLabels !== undefined) labelled.set(staticLabels, [sample]);
    }
    const parts = [...labelled].map(([staticLabels, samples]) => ({ ...family, samples, staticLabels }));
    return [{ ...family, samples: plain }, ...parts];
  }

  /** Nothing where there are no labels. */
  #share(labels: StaticLabels): StaticLabels | undefined {
    if (Object.keys(labels).length === 0) return undefined;
    const key = keyOf(labels);
    const shared = this.#shared.get(key) ?? labels;
    this.#shared.set(key, shared);
    return shared;
  }
}

function keyOf(labels: StaticLabels): string {
  return JSON.stringify(Object.entries(labels));
}
