import { NO_STATIC_LABELS, type StaticLabels } from '../../listing/family.ts';

export interface LabelledCode {
  readonly serviceCode: string;
  readonly labels: StaticLabels;
}

/** Static labels of service codes, added on collection: a change affects neither polls nor counters. */
export class CodeLabels {
  readonly #byCode = new Map<string, StaticLabels>();

  get(serviceCode: string): StaticLabels {
    return this.#byCode.get(serviceCode) ?? NO_STATIC_LABELS;
  }

  /** Returns the codes whose labels changed. Unchanged labels stay one object: rendered lines stay valid. */
  update(codes: Iterable<LabelledCode>): readonly string[] {
    const relabelled: string[] = [];
    for (const { serviceCode, labels } of codes) {
      if (toText(labels) === toText(this.get(serviceCode))) continue;
      relabelled.push(serviceCode);
      this.#byCode.set(serviceCode, labels);
    }
    return relabelled;
  }

  retainOnly(codes: Iterable<LabelledCode>): void {
    const kept = new Set(Array.from(codes, ({ serviceCode }) => serviceCode));
    for (const serviceCode of this.#byCode.keys()) {
      if (!kept.has(serviceCode)) this.#byCode.delete(serviceCode);
    }
  }
}

/** The labels in their order, which is that of the exposition. */
function toText(labels: StaticLabels): string {
  return JSON.stringify(labels);
}
