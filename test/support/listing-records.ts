/*
 * The records that the oracle extracts from a listing. `undefined` means that a field is missing: absent,
 * `null`, an empty string, or invalid; a missing list is empty. Numbers of an output are integers from 0 to
 * 2⁵³ − 1, those of a stream are as reported.
 */

export interface UserRecord {
  readonly vsId: string | undefined;
  readonly clientVersion: string | undefined;
  readonly deviceType: string | undefined;
  /** Whether `service_code` is present and not the polled one. */
  readonly isForeign: boolean;
}

export interface InputRecord {
  /** 53-bit hash of `url` and `user_name`, which identify an input within its task. */
  readonly identity: number;
  /** One of a closed set; see `parseInputProtocol`. */
  readonly protocol: string;
  readonly deviceType: string | undefined;
  /** `device_version`; if that is missing, `client_version`. */
  readonly clientVersion: string | undefined;
  readonly inputBytes: number | undefined;
}

export interface StreamRecord {
  readonly codecType: number | undefined;
  readonly codecId: number | undefined;
  readonly copy: number | undefined;
  readonly bitRate: number | undefined;
}

export interface OutputRecord {
  readonly format: string | undefined;
  readonly relativeDir: string | undefined;
  readonly fileName: string | undefined;
  readonly tag: string | undefined;
  readonly audioCodecName: string | undefined;
  readonly videoCodecName: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  readonly httpOutputBytes: number | undefined;
  readonly httpConnectionsNum: number | undefined;
  readonly streams: readonly StreamRecord[];
}

export interface TaskRecord {
  readonly id: string;
  readonly name?: string | undefined;
  readonly vsId: string | undefined;
  /** A finite number from 0 on; the service's own demo page shows fractions. */
  readonly progress: number | undefined;
  readonly inputBytes: number | undefined;
  readonly inputs: readonly InputRecord[];
  readonly outputs: readonly OutputRecord[];
  /** Whether `service_code` is present and not the polled one. */
  readonly isForeign: boolean;
}
