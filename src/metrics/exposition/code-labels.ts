import { NO_STATIC_LABELS, type Family, type StaticLabels } from '../catalogue/family.ts';

/** A service code and its static labels. */
export interface LabelledCode {
  readonly serviceCode: string;
  readonly labels: StaticLabels;
}

/** Static labels of service codes, added on collection, so that a change affects neither polls nor counters. */
export class CodeLabels {
  /** Only codes that have labels. */
  readonly #byCode = new Map<string, StaticLabels>();
  /** One object for all codes with the same labels. */
  #interned = new Map<string, StaticLabels>();

  get(serviceCode: string): StaticLabels {
    return this.#byCode.get(serviceCode) ?? NO_STATIC_LABELS;
  }

  /**
   * Sets the labels of some codes and returns the codes whose labels changed. Unchanged labels stay the same object, so
   * that the render cache hits.
   */
  update(codes: Iterable<LabelledCode>): readonly string[] {
    const relabelled: string[] = [];
    for (const { serviceCode, labels } of codes) {
      const after = this.#intern(labels);
      if (after === this.#byCode.get(serviceCode)) continue;
      relabelled.push(serviceCode);
      if (after === undefined) this.#byCode.delete(serviceCode);
      else this.#byCode.set(serviceCode, after);
    }
    return relabelled;
  }

  /** Removes the labels of all codes except these. */
  retainOnly(codes: Iterable<LabelledCode>): void {
    const kept = new Set(Array.from(codes, ({ serviceCode }) => serviceCode));
    for (const serviceCode of this.#byCode.keys()) {
      if (!kept.has(serviceCode)) this.#byCode.delete(serviceCode);
    }
    this.#interned = new Map([...this.#byCode.values()].map((labels) => [createKey(labels), labels]));
  }

  /** Adds labels to a family whose samples all have the same service code. */
  addLabels(family: Family, serviceCode: string): Family {
    const staticLabels = this.#byCode.get(serviceCode);
    return staticLabels === undefined ? family : { ...family, staticLabels };
  }

  #intern(labels: StaticLabels): StaticLabels | undefined {
    if (Object.keys(labels).length === 0) return undefined;
    const key = createKey(labels);
    const shared = this.#interned.get(key) ?? labels;
    this.#interned.set(key, shared);
    return shared;
  }
}

function createKey(labels: StaticLabels): string {
  return JSON.stringify(Object.entries(labels));
}
