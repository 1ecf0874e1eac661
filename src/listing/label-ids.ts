import { OTHER, UNKNOWN } from './label-values.ts';

/** Values with the first ids of {@link LabelNames}, in this order. */
export const FIXED_LABELS = [UNKNOWN, OTHER, 'video', 'audio', 'copy', 'transcode'];

export const MISSING_ID = 0;
export const OTHER_ID = 1;
export const VIDEO_ID = 2;
export const AUDIO_ID = 3;
export const COPY_ID = 4;
export const TRANSCODE_ID = 5;
