import { portal } from '../../api/portal.ts';
import { usePlace } from '../../api/places.tsx';
import { useRead } from '../../api/queries.ts';
import { service } from '../../api/service.ts';
import { Copy, Facts } from '../../parts/small.tsx';

interface HandOverProps {
  readonly account: string | undefined;
  readonly username: string;
}

/** What a new user needs beside the code, to sign in at the array. */
export function HandOver(props: HandOverProps) {
  return service.kind === 'objects' ? <Handed {...props} address={location.origin} /> : <ThroughPortal {...props} />;
}

/** The portal knows where the array itself is. */
function ThroughPortal(props: HandOverProps) {
  const id = Number(/^\/via\/(\d+)/.exec(usePlace('objects').base)?.[1]);
  const { data } = useRead(portal.arrays.get, { array_id: id });
  return <Handed {...props} address={data?.data.management_url ?? undefined} />;
}

function Handed({ account, username, address }: HandOverProps & { readonly address: string | undefined }) {
  const all = [
    ['Address of this array', address],
    ['Account', account],
    ['User name', username],
  ] as const;
  return (
    <Facts
      of={all.flatMap(([name, text]) =>
        text === undefined
          ? []
          : [
              [
                name,
                <span key={name}>
                  {text} <Copy text={text} label={`Copy: ${name}`} />
                </span>,
              ] as const,
            ],
      )}
    />
  );
}
