export { addressKey, ConnectionLimits, type AdmittedConnection, type CrowdingReport } from './connection-limits.ts';
export { dropUnread, limitConnections, markSignedIn } from './http-connections.ts';
export { connectionsMax } from './open-files.ts';
