import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { setConnected } from './connection.ts';
import { refreshCreated } from './created.ts';
import { usePlaces } from './places.tsx';
import { refresh } from './queries.ts';
import { readRights } from './rights.ts';
import { announceSignedOut, type Place } from './send.ts';

/** Figures made of many records: read again whatever changed. */
const ALWAYS = ['overview', 'forecasts'];
const RECONNECT_MS = 5_000;

/** Follows what changes at the service, and at the array whose pages are open, for as long as it is mounted. */
export function useChangeFeed(): void {
  const client = useQueryClient();
  const bases = [...new Set(Object.values(usePlaces()).flatMap((place) => (place ? [place.base] : [])))];
  const key = bases.join('\n');
  useEffect(() => {
    const stops = key.split('\n').map((base) => follow(client, { base }));
    return () => {
      for (const stop of stops) stop();
    };
  }, [client, key]);
}

function follow(client: QueryClient, place: Place): () => void {
  let source: EventSource;
  let timer: number | undefined;
  let isMissed = false;
  const connect = () => {
    source = new EventSource(`${place.base}/api/changes`);
    source.addEventListener('open', () => {
      setConnected(place.base, true);
      // What happened while there was no connection is not told again.
      if (isMissed) void readAll(client, place);
      isMissed = false;
    });
    source.addEventListener('changed', ({ data }) => {
      const groups = groupsIn(data);
      if (groups.includes('users')) void readRights(client, place);
      refreshCreated(place, groups);
      void refresh(client, place, [...groups, ...ALWAYS]);
    });
    source.addEventListener('event', () => void refresh(client, place, ['events', 'messages']));
    source.addEventListener('signed_out', () => {
      if (place.base === '') announceSignedOut();
    });
    source.addEventListener('error', () => {
      isMissed = true;
      setConnected(place.base, false);
      // The service ends the stream of a person whose role has changed.
      void readRights(client, place);
      // A refused stream is closed for good; a lost one the browser opens again by itself.
      if (source.readyState === EventSource.CLOSED) timer = window.setTimeout(connect, RECONNECT_MS);
    });
  };
  connect();
  return () => {
    window.clearTimeout(timer);
    source.close();
    setConnected(place.base, true);
  };
}

/** First who the person is: what that person may not read any more is not asked for. */
async function readAll(client: QueryClient, place: Place): Promise<void> {
  await readRights(client, place);
  refreshCreated(place);
  await client.invalidateQueries({ queryKey: [place.base] });
}

function groupsIn(data: unknown): string[] {
  const { groups } = JSON.parse(String(data)) as { groups?: unknown };
  return Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [];
}
