export { sessionRoutes, sessionSettingRoutes, type SessionPeople } from './routes.ts';
export { Sessions, type SessionRequest } from './sessions.ts';
