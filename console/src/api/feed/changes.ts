import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { setConnected } from '../connection.ts';
import { refreshCreated } from '../created.ts';
import { usePlace } from '../places.tsx';
import { refresh } from '../queries.ts';
import { readRights } from '../rights.ts';
import { announceSignedOut, type Place } from '../send.ts';
import { followPlace } from './follow.ts';

/** Figures made of many records: read again whatever changed. */
const ALWAYS = ['overview', 'forecasts'];

/** With these may change what the person may do. */
const RIGHTS = new Set(['users', 'sessions']);

/** Follows what changes at the service of an API, for as long as it is mounted. */
export function useChangeFeed(api: string): void {
  const client = useQueryClient();
  const { base } = usePlace(api);
  useEffect(() => keepUpToDate(client, { base }), [client, base]);
}

function keepUpToDate(client: QueryClient, place: Place): () => void {
  /** What changed while there was no stream is not sent later. */
  let mayHaveMissed = false;
  const stop = followPlace(place.base, (message) => {
    switch (message.kind) {
      case 'open':
        setConnected(place.base, true);
        if (mayHaveMissed) void readAll(client, place);
        mayHaveMissed = true;
        break;
      case 'changed':
        if (message.groups.some((group) => RIGHTS.has(group))) void readRights(client, place);
        refreshCreated(place, message.groups);
        void refresh(client, place, [...message.groups, ...ALWAYS]);
        break;
      case 'event':
        void refresh(client, place, ['events', 'messages']);
        break;
      case 'signed_out':
        if (place.base === '') announceSignedOut();
        break;
      case 'unwatched':
        mayHaveMissed = true;
        void readAll(client, place);
        break;
      case 'lost':
        mayHaveMissed = true;
        setConnected(place.base, false);
        // The service ends the stream of a person whose role has changed.
        void readRights(client, place);
    }
  });
  return () => {
    stop();
    setConnected(place.base, true);
  };
}

/** First who the person is: what that person may not read any more is not asked for. */
async function readAll(client: QueryClient, place: Place): Promise<void> {
  await readRights(client, place);
  refreshCreated(place);
  await client.invalidateQueries({ queryKey: [place.base] });
}
