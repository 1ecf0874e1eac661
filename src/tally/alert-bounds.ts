/** Sizes that pages and log share with the alerts; a test compares them with the rules. */
export const ALERT_BOUNDS = {
  /** `XvsTasksDropped`: the end of one or two streams is none, unless so many users stay. */
  lostTasks: 3,
  usersThatStay: 20,
  /** `XvsBytesNotCounted`: share of the accounts. */
  liveAccountShare: 0.9,
  /** `XvsCertificateExpires` and `XvsUpstreamCertificateExpires`, which are critical in the last days. */
  certificateDays: 14,
  criticalCertificateDays: 3,
} as const;
