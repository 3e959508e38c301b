/** What the OpenAPI document says of a browser's way to a session. */

import { error, type Operation, query, said, text } from '../../base/json-schema.ts'

const tags = ['login']
const unavailable = {
  404: error('No identity provider is configured'),
  503: error('The identity provider or the database is not available'),
}

export const loginDetail: Operation = {
  tags,
  summary: 'Sends the browser to the identity provider',
  security: [],
  parameters: [query('return_to', said(text, 'path on this service to come back to'))],
  responses: { 302: { description: 'To the identity provider' }, ...unavailable },
}

export const callbackDetail: Operation = {
  tags,
  summary: 'Where the identity provider returns to: makes the session, and its cookie',
  security: [],
  parameters: [query('code', text), query('state', text)],
  responses: {
    302: { description: 'To where the login began' },
    400: error('The login was not begun in this browser, is over, or too long ago'),
    401: error('The identity provider refused'),
    403: error('The organization has no active tenant'),
    ...unavailable,
  },
}

export const logoutDetail: Operation = {
  tags,
  summary: 'Ends the session of the browser',
  responses: {
    204: { description: 'Ended' },
    401: error('There is no session to end'),
    403: error('The request comes from another site’s page'),
    503: error('The database is not available'),
  },
}
