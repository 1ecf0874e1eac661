import { createTheme } from '@grafana/data';

/** The theme of all pictures. */
export const theme = createTheme({ colors: { mode: 'dark' } });
