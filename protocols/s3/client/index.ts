export { headerOfText } from '../operations/header-text.ts';
export { RemoteRefusal, RemoteS3, type RemotePlace } from './client.ts';
export { RemoteBucket, type SentPart } from './remote-bucket.ts';
