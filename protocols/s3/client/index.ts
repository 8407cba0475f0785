export { headerOfText } from '../operations/header-text.ts';
export { REPLICA, REPLICATION_STATUS } from '../operations/objects/replica.ts';
export { RequestSigner, type SigningIdentity } from './signer.ts';
export { S3Error } from '../errors.ts';
export { RemoteRefusal, RemoteS3, type RemotePlace } from './client.ts';
export { RemoteBucket } from './remote-bucket.ts';
