import { createTheme } from '@grafana/data';

/** The theme of the picture: the fragment of the address. */
export const theme = createTheme({ colors: { mode: location.hash.slice(1) } });
