/** What the OpenAPI document says of the providers' webhooks. */

import {
  answer,
  anyObject,
  body,
  error,
  type Operation,
  object,
  oneOf,
  type Parameter,
  text,
} from '../../base/json-schema.ts'

const header = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: false,
  schema: text,
  description,
})

/** @param signature the header of the provider's own scheme */
function webhook(summary: string, signature: Parameter): Operation {
  return {
    tags: ['webhooks'],
    summary,
    description: 'Signed by the provider’s own scheme, or by Standard Webhooks: one of the two is there.',
    security: [],
    parameters: [
      signature,
      header('webhook-id', 'of Standard Webhooks'),
      header('webhook-timestamp', 'of Standard Webhooks'),
      header('webhook-signature', 'of Standard Webhooks: `v1,<base64>`'),
    ],
    requestBody: body(anyObject),
    responses: {
      200: answer('Received', object({ received: oneOf(['recorded', 'known']) })),
      400: error('There is no signature header, or the event is not as it must be'),
      401: error('No secret is configured, or the signature does not hold'),
      409: error('This delivery was received before'),
      410: error('The webhook is switched off'),
      413: error('The body is too large'),
      503: error('The database is not available'),
    },
  }
}

export const identityDetail = webhook(
  'Events of the identity provider',
  header('WorkOS-Signature', '`t=<ms>, v1=<hex>`'),
)
export const billingDetail = webhook(
  'Events of the billing provider',
  header('Stripe-Signature', '`t=<s>,v1=<hex>`'),
)
