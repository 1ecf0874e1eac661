import type { InputRecord, OutputRecord, StreamRecord, TaskRecord, UserRecord } from './listing-records.ts';

/** Builds a task record with defaults for the fields that a test does not set. */
export function buildTaskRecord(fields: Partial<TaskRecord> = {}): TaskRecord {
  return {
    id: 'task-1',
    vsId: 'server-1',
    progress: 0,
    inputBytes: 0,
    inputs: [],
    outputs: [],
    isForeign: false,
    ...fields,
  };
}

export function buildInputRecord(fields: Partial<InputRecord> = {}): InputRecord {
  return {
    identity: 1,
    protocol: 'rtmp',
    deviceType: '10',
    clientVersion: '451',
    inputBytes: undefined,
    ...fields,
  };
}

export function buildStreamRecord(fields: Partial<StreamRecord> = {}): StreamRecord {
  return { codecType: 0, codecId: 27, copy: 0, bitRate: 1000, ...fields };
}

export function buildOutputRecord(fields: Partial<OutputRecord> = {}): OutputRecord {
  return {
    format: 'flv',
    relativeDir: 'dir',
    fileName: 'file',
    tag: 'tag',
    audioCodecName: 'aac',
    videoCodecName: 'libx264',
    width: 640,
    height: 360,
    httpOutputBytes: 0,
    httpConnectionsNum: 0,
    streams: [],
    ...fields,
  };
}

export function buildUserRecord(fields: Partial<UserRecord> = {}): UserRecord {
  return { vsId: 'server-1', clientVersion: '451', deviceType: '10', isForeign: false, ...fields };
}
