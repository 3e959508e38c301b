/** The sessions and connections at work that the principal may see, by whose numbers Cancel names them. No statement is shown. */

import { columnsOf, type DiscoverContext, type Row, type Rowset, restrictionsOf } from './rowset.ts'

const idle = 0
const active = 1

function sessionRows({ sessions }: DiscoverContext): readonly Row[] {
  return sessions().map(({ id, spid, connectionId, owner, startedMs, running }) => ({
    SESSION_ID: id,
    SESSION_SPID: spid,
    SESSION_CONNECTION_ID: connectionId,
    SESSION_USER_NAME: owner.sub,
    SESSION_CURRENT_DATABASE: owner.catalog,
    SESSION_START_TIME: new Date(startedMs),
    SESSION_STATUS: running.size > 0 ? active : idle,
  }))
}

function connectionRows({ connections }: DiscoverContext): readonly Row[] {
  return connections().map(({ id, sub, startedMs, requests }) => ({
    CONNECTION_ID: id,
    CONNECTION_USER_NAME: sub,
    CONNECTION_START_TIME: new Date(startedMs),
    CONNECTION_STATUS: requests.size > 0 ? active : idle,
  }))
}

export const workRowsets: readonly Rowset[] = [
  {
    name: 'DISCOVER_CONNECTIONS',
    guid: 'a07ccd25-8148-11d0-87bb-00c04fc33942',
    columns: columnsOf(
      'CONNECTION_ID:i CONNECTION_USER_NAME:s? CONNECTION_START_TIME:t? CONNECTION_STATUS:i?',
    ),
    restrictions: restrictionsOf('CONNECTION_ID:i CONNECTION_USER_NAME:s'),
    rows: connectionRows,
  },
  {
    name: 'DISCOVER_SESSIONS',
    guid: 'a07ccd26-8148-11d0-87bb-00c04fc33942',
    columns: columnsOf(
      'SESSION_ID:s? SESSION_SPID:i? SESSION_CONNECTION_ID:i? SESSION_USER_NAME:s? SESSION_CURRENT_DATABASE:s? SESSION_START_TIME:t? SESSION_STATUS:i?',
    ),
    restrictions: restrictionsOf(
      'SESSION_ID:s SESSION_SPID:i SESSION_CONNECTION_ID:i SESSION_USER_NAME:s SESSION_CURRENT_DATABASE:s SESSION_STATUS:i',
    ),
    rows: sessionRows,
  },
]
