export { ChangeDetector } from './change-detector.ts';
export { ChangeFeed, changeRoutes, type Concerns } from './change-feed.ts';
export { Listeners, type ListenAddress } from './listeners.ts';
export { isReply } from './schemas.ts';
export { createApiServer, innerApi, type ApiServerOptions } from './server.ts';
export type { StreamExchange, StreamRoute } from './streams.ts';
export {
  Submitted,
  anonymous,
  operationsOf,
  type Actor,
  type AnsweredCall,
  type Context,
  type CredentialSource,
  type Handler,
  type Handlers,
} from './types.ts';
