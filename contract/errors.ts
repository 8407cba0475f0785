import { errorFamilies, refusals } from './refusals/index.ts';

export { refusals };

/**
 * The catalogue: every error Granary gives, once. `http` is the portal's status; arrays and object storage answer
 * HTTP 200 with `code` in the body, save where `keepsHttp` says that the HTTP status itself carries the meaning.
 * A message says what to do next; `{name}` is a fact
 * given where the error is raised: one that is missing does not compile.
 */
export interface ErrorEntry {
  readonly http: number;
  readonly code: number;
  readonly message: string;
  readonly keepsHttp?: true;
}

/** Errors that have a code to themselves, and so one message. */
export const singleErrors = {
  // Every interface
  internal: {
    http: 500,
    code: 1,
    keepsHttp: true,
    message: 'Something went wrong on our side; the log of this server has the details under request {request}.',
  },
  not_served: {
    http: 501,
    code: 2,
    keepsHttp: true,
    message: '{operation} is part of the interface but this release does not serve it yet.',
  },
  idempotency_mismatch: {
    http: 422,
    code: 3,
    message: 'Idempotency-Key {key} was used with another request; use a new key.',
  },
  unknown_path: {
    http: 404,
    code: 4,
    keepsHttp: true,
    message: 'There is no {method} {path}; see /api/docs for what is served here.',
  },
  invalid_credentials: { http: 401, code: 5, message: 'Invalid credentials.' },
  not_allowed: { http: 403, code: 6, message: 'Your role does not allow this; it needs {roles}.' },
  too_large: { http: 413, code: 8, keepsHttp: true, message: 'The request is larger than {limit}.' },
  too_many_attempts: {
    http: 429,
    code: 9,
    keepsHttp: true,
    message: 'Too many failed sign-ins; try again in {seconds seconds}.',
  },
  unsupported_content: {
    http: 400,
    code: 10,
    message: 'Content-Type {type} is not understood; send a form, JSON, XML or multipart.',
  },
  idempotency_interrupted: {
    http: 409,
    code: 11,
    message:
      'A request with Idempotency-Key {key} was taken but its answer is not known (still running, or cut off by a restart); look at the current state before you send it again with a new key.',
  },
  stopping: { http: 503, code: 12, keepsHttp: true, message: 'The server is stopping; try again in a moment.' },
  address_refused: {
    http: 400,
    code: 13,
    message: 'Granary does not connect to {address}: link-local, reserved and metadata addresses are refused.',
  },

  disk_full: {
    http: 503,
    code: 14,
    keepsHttp: true,
    message: 'The disk of this server is full; nothing was changed. Free some space and try again.',
  },

  not_durable: {
    http: 503,
    code: 16,
    keepsHttp: true,
    message:
      'The disk of this server failed to store a change durably. Changes are refused until the server is started again; repair its disk first.',
  },

  too_many_requests: {
    http: 429,
    code: 15,
    keepsHttp: true,
    message: 'This was asked for too often; try again in {seconds seconds}.',
  },

  session_not_found: { http: 404, code: 18, message: 'There is no session {id}.' },
  csrf_token_needed: {
    http: 403,
    code: 19,
    message: 'A change made with a session needs its X-CSRF-Token; GET /api/sessions/current shows it.',
  },
  foreign_page: {
    http: 403,
    code: 20,
    message: 'A page of another origin made this request; changes made with a session come from pages of this service.',
  },
  too_many_streams: {
    http: 429,
    code: 25,
    keepsHttp: true,
    message: '{max} streams of changes are open, which is the most {whose}; close one and try again.',
  },
  locked_down: {
    http: 409,
    code: 26,
    message:
      'Array {name} is locked down: it serves its data, and nothing of it is changed until an administrator of the portal releases it.',
  },

  webhook_not_found: { http: 404, code: 17, message: 'Webhook {id} was not found.' },

  // Portal
  not_found: { http: 404, code: 20001, message: 'There is no {kind} {id}.' },
  name_taken: { http: 409, code: 10096, message: 'The name {name} is taken; choose another.' },
  in_use: { http: 409, code: 20002, message: '{kind} {id} is in use: {by}.' },
  wrong_state: { http: 409, code: 20003, message: '{kind} {id} is {state}; {action} needs it to be {needed}.' },
  out_of_stock: {
    http: 409,
    code: 20004,
    message: 'Only {available} drives of type {key} are free{where}; {wanted} were asked for.',
  },
  cloud_unreachable: {
    http: 422,
    code: 20005,
    message: 'No cloud answered at {address}: {reason}. Check the address and that `granary cloud` runs there.',
  },
  cloud_refused: {
    http: 422,
    code: 20006,
    message: 'The cloud at {address} refused the credentials; check admin_user and admin_key.',
  },
  cloud_untrusted: {
    http: 422,
    code: 20015,
    message:
      'The cloud at {address} shows a certificate of an authority this portal does not know (SHA-256 {fingerprint}). Compare it with what `granary cloud` printed there and send it as fingerprint.',
  },
  cloud_in_the_clear: {
    http: 422,
    code: 20016,
    message:
      'The cloud at {address} does not answer over TLS, and its key must not cross a network in the clear. Start it without --insecure-http, or start the portal with it.',
  },
  not_its_portal: {
    http: 403,
    code: 20017,
    message: 'This cloud answers only the portal it belongs to, which shows a certificate; call the portal instead.',
  },
  already_decided: { http: 409, code: 20009, message: 'Request {id} was {status} already.' },
  user_disabled: { http: 403, code: 20030, message: 'User {username} is disabled; ask an administrator to enable it.' },
  code_needed: {
    http: 401,
    code: 20031,
    message: 'User {username} signs in with two factors: send the code of the authenticator app, or use a token.',
  },
  wrong_code: {
    http: 401,
    code: 20032,
    message: 'The code is wrong or was used before; wait for the next one, and check the time of the device.',
  },
  last_admin: { http: 409, code: 20010, message: 'User {username} is the last administrator; make another one first.' },
  overlap: { http: 409, code: 20011, message: '{what} overlaps {other}; choose another range.' },
  array_unreachable: {
    http: 409,
    code: 20012,
    message: 'Array {name} does not answer at {address}; try again when it is up.',
  },
  no_array_user: {
    http: 403,
    code: 20021,
    message:
      'This array has no user {username} for you; ask an administrator of the array to add one of that name. Until then its record at the portal is all there is to see.',
  },
  delegated_key_unknown: {
    http: 401,
    code: 20022,
    message: 'The key the portal had here is not known any more; try again.',
  },
  passages_limit: {
    http: 429,
    code: 20023,
    keepsHttp: true,
    message:
      'You have {max} requests under way that are passed on to an array or its data; wait until one of them ends.',
  },
  relay_timeout: {
    http: 504,
    code: 20024,
    keepsHttp: true,
    message: 'Nothing came through for {seconds seconds}; the request was given up.',
  },
  no_address: { http: 409, code: 20014, message: 'No free address is left in {range}.' },

  cloud_claimed: {
    http: 403,
    code: 20018,
    message:
      'This cloud takes no commands from this portal: {reason}. An administrator can move it with `granary clouds adopt`.',
  },

  // Arrays
  raid_group_not_found: { http: 404, code: 10009, message: 'RAID group {id} was not found.' },
  pool_not_found: { http: 404, code: 10080, message: 'Pool {id} was not found.' },
  volume_not_found: { http: 404, code: 10081, message: 'Volume {id} was not found.' },
  drive_not_found: { http: 404, code: 10082, message: 'Drive {id} was not found.' },
  snapshot_not_found: { http: 404, code: 10083, message: 'Snapshot {id} was not found.' },
  policy_not_found: { http: 404, code: 10084, message: 'Policy {id} was not found.' },
  consistency_group_not_found: { http: 404, code: 10085, message: 'Consistency group {id} was not found.' },
  server_not_found: { http: 404, code: 10086, message: 'Server {id} was not found.' },
  attachment_not_found: { http: 404, code: 10086, message: 'Volume {volume} is not attached to server {server}.' },
  controller_not_found: { http: 404, code: 10087, message: 'Controller {id} was not found.' },
  job_not_found: { http: 404, code: 10088, message: 'Job {id} was not found.' },
  remote_array_not_found: { http: 404, code: 10089, message: 'Remote array {id} was not found.' },
  tag_not_found: { http: 404, code: 10090, message: 'Tag {id} was not found.' },
  category_not_found: { http: 404, code: 10091, message: 'Category {id} was not found.' },
  project_not_found: { http: 404, code: 10092, message: 'Quota project {id} was not found.' },
  user_not_found: { http: 404, code: 10093, message: 'User {id} was not found.' },
  destination_not_found: { http: 404, code: 10094, message: 'Object storage destination {id} was not found.' },
  snapshot_set_not_found: { http: 404, code: 10095, message: 'Snapshot set {id} was not found.' },
  nas_group_not_found: { http: 404, code: 10098, message: 'NAS group {id} was not found.' },
  nothing_to_delete: { http: 404, code: 10097, message: 'There is nothing to delete.' },
  drive_in_use: { http: 409, code: 10101, message: 'Drive {id} is in use by {by}.' },
  pool_not_empty: {
    http: 409,
    code: 10102,
    message: 'Pool {id} still has {count volumes}, those in the recycle bin included; delete or migrate them first.',
  },
  volume_attached: {
    http: 409,
    code: 10103,
    message: 'Volume {id} is attached to {servers}; detach it first{instead}.',
  },
  volume_has_snapshots: {
    http: 409,
    code: 10104,
    message: 'Volume {id} has {count snapshots}; delete them first or use force=YES.',
  },
  raid_group_in_use: {
    http: 409,
    code: 10105,
    message: 'RAID group {id} belongs to pool {pool}; shrink or delete the pool first.',
  },
  lun_taken: {
    http: 409,
    code: 10106,
    message: 'LUN {lun} is taken on server {server}; choose another or leave it out.',
  },
  remote_unreachable: {
    http: 422,
    code: 10107,
    message: 'The remote end at {address} did not answer as expected: {reason}.',
  },
  volume_locked: {
    http: 409,
    code: 10108,
    message:
      'The encryption password is not known to the array; set one in the encryption settings, or restore it there after a restart.',
  },
  drive_sizes_differ: {
    http: 409,
    code: 10110,
    message: 'The drives have {sizes} GiB; choose drives of one size, or use force=YES to count all as the smallest.',
  },
  remote_refused: {
    http: 422,
    code: 10120,
    message: 'The remote array at {address} refused the sign-in: {reason}.',
  },
  pool_protected: {
    http: 409,
    code: 10202,
    message: 'Pool {id} is in {mode} mode: {reason}. Expand it, delete something, or change its protection.',
  },

  // Object storage
  account_not_found: { http: 404, code: 50001, message: 'Account {id} was not found.' },
  account_disabled: { http: 403, code: 50002, message: 'Account {id} is disabled.' },
  objs_user_not_found: { http: 404, code: 50003, message: 'User {id} was not found.' },
  request_not_found: { http: 404, code: 50004, message: 'Request {id} was not found.' },
  objs_drive_not_found: { http: 404, code: 50005, message: 'Drive {id} was not found.' },
  objs_controller_not_found: { http: 404, code: 50006, message: 'Virtual controller {id} was not found.' },
  objs_policy_not_found: { http: 404, code: 50007, message: 'Storage policy {id} was not found.' },
  load_balancer_group_not_found: { http: 404, code: 50008, message: 'Load balancer group {id} was not found.' },
  objs_destination_not_found: { http: 404, code: 50009, message: 'Remote endpoint {id} was not found.' },
  password_code_refused: {
    http: 401,
    code: 5,
    message:
      'This code sets no password of that user: it was used, has expired, or belongs to somebody else. Ask for a new one.',
  },
  password_expired: {
    http: 403,
    code: 50010,
    message: 'The password of {user} has expired; change the password first.',
  },
  connection_failed: {
    http: 422,
    code: 50012,
    message: 'The remote endpoint {endpoint} did not answer as expected: {reason}.',
  },
  encryption_locked: { http: 409, code: 50013, message: 'The array is locked; restore the encryption password first.' },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

/** What endpoints declare: errors by themselves, and families whose messages are in `refusals`. */
export const errorCatalogue = { ...singleErrors, ...errorFamilies } as const satisfies Readonly<
  Record<string, ErrorEntry>
>;

export type ErrorName = keyof typeof errorCatalogue;
