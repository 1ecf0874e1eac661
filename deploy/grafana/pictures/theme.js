import { createTheme } from '@grafana/data';

/** Grafana's own, in which everything is drawn. */
export const theme = createTheme({ colors: { mode: 'dark' } });
