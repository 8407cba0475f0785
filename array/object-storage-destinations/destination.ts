/** A bucket of object storage that the array may use. The password is sealed. */
export interface Destination {
  readonly name: string;
  readonly displayName: string;
  readonly type: string;
  readonly bucket: string;
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  readonly connectVia: 'fe' | 'public';
  readonly allowsLifecyclePolicies: boolean;
  readonly proxy: string | null;
  readonly proxyHost: string | null;
  readonly proxyPort: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}
