/**
 * The label values of a row, without `service_code`, in the order of its label group. The last ones can be
 * missing: then the row does not have these labels. In rows, equal label sets are one object.
 */
export type LabelSet = readonly string[];

/**
 * Label sets by their values, joined by a character that no value has. The map is global because the rows of
 * all service codes share label sets. The garbage collector empties it, so that it needs no owner.
 */
const knownLabels = new Map<string, WeakRef<LabelSet>>();
const unusedLabels = new FinalizationRegistry<string>((key) => {
  if (knownLabels.get(key)?.deref() === undefined) knownLabels.delete(key);
});

/**
 * Returns one object for equal label sets: those of listings and of service codes are much alike. The caller
 * may change `labels` afterwards.
 */
export function internLabels(labels: LabelSet): LabelSet {
  const key = labels.length === 1 ? (labels[0] ?? '') : labels.join('\u0000');
  const known = knownLabels.get(key)?.deref();
  if (known !== undefined) return known;
  const interned = [...labels];
  knownLabels.set(key, new WeakRef(interned));
  unusedLabels.register(interned, key);
  return interned;
}
