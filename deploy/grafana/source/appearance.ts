import {
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';

/** The colour from a value upwards. */
export type Step = readonly [from: number, color: 'green' | 'yellow' | 'orange' | 'red' | 'blue'];

/** Grey: nothing is known. */
const UNKNOWN = '#808080';

/**
 * Thresholds above a base colour. Green is a statement about a value, so it begins at 0, and what is unknown
 * is grey.
 */
export function thresholds(
  base: 'green' | 'transparent' | 'red' | 'blue',
  ...steps: readonly Step[]
): ThresholdsConfigBuilder {
  const first =
    base === 'green'
      ? [
          { value: null, color: UNKNOWN },
          { value: 0, color: base },
        ]
      : [{ value: null, color: base }];
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([...first, ...steps.map(([value, color]) => ({ value, color }))]);
}

/** For `xvs_up` and `up`. */
export const UP_OR_DOWN: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: { 0: { text: 'Down', color: 'red', index: 1 }, 1: { text: 'Up', color: 'green', index: 0 } },
  },
];

/** For `xvs_ret`: the interface defines no value but 0. */
export const RET: ValueMapping[] = [
  { type: MappingType.ValueToText, options: { 0: { text: '0 (success)', color: 'green', index: 0 } } },
];

/** For gauges that are 1 or 0. */
export const YES_OR_NO: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: { 0: { text: 'No', color: 'red', index: 1 }, 1: { text: 'Yes', color: 'green', index: 0 } },
  },
];

/** For servers. */
export const LISTED_OR_GONE: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: {
      0: { text: 'Gone', color: 'orange', index: 1 },
      1: { text: 'Listed', color: 'green', index: 0 },
    },
  },
];

/** For single tasks. No bytes are counted of a task without a valid byte count, whatever flows. */
export const TASK_STATES: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: {
      0: { text: 'Flowing', color: 'green', index: 0 },
      1: { text: 'No bytes counted', color: UNKNOWN, index: 1 },
      2: { text: 'Stalled', color: 'orange', index: 2 },
    },
  },
];

/** For panels of the last listing: shown if it is stale. */
export const NO_LISTING = 'No listing';
