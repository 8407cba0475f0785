export { delegatedKeyApi } from './delegated-keys.ts';
export * from './endpoint.ts';
export * from './errors.ts';
export type { Param, ParamKind, Params, Parsed, Presence, Reference, Sent, UploadedFile } from './params.ts';
export * from './reply.ts';
export * from './records.ts';
export { ALL_KINDS, LOGIN_KIND } from './event-kinds.ts';
export { Webhook, WebhookTest } from './webhooks.ts';
