export { headerOfText } from '../operations/header-text.ts';
export { REPLICA, REPLICATION_STATUS } from '../operations/objects/replica.ts';
export { RemoteRefusal, RemoteS3, type RemotePlace } from './client.ts';
export { RemoteBucket } from './remote-bucket.ts';
