import { objects } from '../../api/objects.ts';
import { usePlace } from '../../api/places.tsx';
import { act } from '../../api/queries.ts';
import { Copy, Facts, Secret } from '../../parts/small.tsx';

/** The S3 keys of a user: the secret is fetched when somebody asks for it, and the array records who did. */
export function S3Keys(props: { readonly userId: string; readonly name: string; readonly accessKey: string | null }) {
  const { userId, name, accessKey } = props;
  const place = usePlace('objects');
  const reveal = async () => {
    const { value } = await act(objects.users.get, place, { id: userId }, { reveal: true });
    return value?.user.s3_secret_key ?? null;
  };
  return (
    <Facts
      of={[
        [
          'Access key',
          accessKey === null ? (
            'none'
          ) : (
            <span>
              {accessKey} <Copy text={accessKey} label="Copy the access key" />
            </span>
          ),
        ],
        ['Secret key', <Secret key="secret" reveal={reveal} label={`the S3 secret key of ${name}`} />],
      ]}
    />
  );
}
