export { assert } from './assert.ts';
export { attemptLimits, SignInAttempts, type Attempt, type AttemptLimits } from './auth/attempts.ts';
export { DelegatedKeys, type DelegatedKey } from './auth/delegated-keys.ts';
export { hashPassword, stretchPassword, verifyPassword } from './auth/passwords.ts';
export { checkedVault, openVault } from './auth/open-vault.ts';
export { fingerprint, KeyError, newSecret, Vault } from './auth/vault.ts';
export { deriveKey, unwrapKey, verifyKey, wrapKey, type Verifier } from './auth/wrapping.ts';
export {
  bytes,
  capacityText,
  GB,
  gigabytes,
  MB,
  usedAsRecorded,
  wholeGigabytes,
  wholeMegabytes,
  type Bytes,
} from './capacity.ts';
export * from './clock.ts';
export { EncryptionReports } from './encryption-changes/reports.ts';
export { engineKind, requirePart } from './engines.ts';
export { badParameter, badParameters, fail, GranaryError, retryLater, type FieldProblem } from './errors.ts';
export { eventAttribute } from './events/attribute.ts';
export { EventLog, LOGIN, severity, type EventMessage, type EventOrder, type NewEvent } from './events/events.ts';
export * from './forecast/index.ts';
export * from './http/index.ts';
export { Jobs, type JobOutcome, type JobRun, type JobTraits, type RunningJob } from './jobs/jobs.ts';
export type { Job } from './jobs/job.ts';
export { answerWhenDone } from './jobs/waiting.ts';
export { Locks } from './locks.ts';
export { createLog, LogLines, type Log, type LogLevel } from './log.ts';
export * from './mail/index.ts';
export { stateSamples, type HistogramMeasure, type Measure, type SimpleMeasure } from './metrics/measure.ts';
export { Metrics } from './metrics/metrics.ts';
export { metricsTokenRoutes } from './metrics/token.ts';
export { http } from './net/http.ts';
export { guardedFetch, outgoingAddress, parseHostAndPort, type HostAndPort } from './net/outgoing.ts';
export { plainRequests } from './net/plain-requests.ts';
export { PortGuards } from './net/port-guards.ts';
export { connectionReason } from './net/reason.ts';
export * from './process/index.ts';
export type { Brand, Flavor } from './records/brand.ts';
export { pageOf, sqlPage, WHOLE, type Page } from './records/paging.ts';
export * from './relay/index.ts';
export { flag, generated, inUnits, json, plain, Table, type Changes } from './records/table.ts';
export * from './search/index.ts';
export * from './sessions/index.ts';
export * from './store/index.ts';
export * from './tls/index.ts';
export * from './webhooks/index.ts';
