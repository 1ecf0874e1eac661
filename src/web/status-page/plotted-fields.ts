import type { PlottedTotals } from '../../poller/poll-history.ts';
import { formatBitRate, formatCount, renderBitRate, renderCount } from './human-units.ts';
import type { Markup } from './markup.ts';

export type PlottedField = keyof PlottedTotals;

export interface PlottedFieldDisplay {
  readonly field: PlottedField;
  readonly title: string;
  readonly formatValue: (value: number) => string;
  readonly renderValue: (value: number | undefined) => Markup;
}

const COUNT = { formatValue: formatCount, renderValue: renderCount };
const BIT_RATE = { formatValue: formatBitRate, renderValue: renderBitRate };

/** The plotted fields in the order of the pages. */
export const PLOTTED_FIELDS: readonly PlottedFieldDisplay[] = [
  { field: 'users', title: 'Users', ...COUNT },
  { field: 'tasks', title: 'Tasks', ...COUNT },
  { field: 'ingress', title: 'Ingress', ...BIT_RATE },
  { field: 'egress', title: 'Egress', ...BIT_RATE },
  { field: 'connections', title: 'Connections', ...COUNT },
];
