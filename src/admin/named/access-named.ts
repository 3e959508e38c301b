/** Declares the verbs by name for access that is asked for, decided, granted for a time, and revoked. */

import { listing, type NamedVerb, single } from './named-verb.ts'

export const access: readonly NamedVerb[] = [
  listing(
    'access',
    'list_access_grants',
    '[--open] [--everyone] [--table TABLE]',
    'Lists what access you have, why and until when',
    ['table', 'purpose', 'from', 'until', 'grantee', 'ended_at', 'id'],
  ),
  single(
    'access request',
    'request_access',
    'TABLE --purpose TEXT --seconds N [--columns NAMES] [--filters IDS] [--policies IDS] [--role ROLE] [--ticket TEXT]',
    'Asks for access to what is hidden of a table',
    {
      details:
        'Without --columns, --filters and --policies it is for all that filters and masks hide from you. With --policies it is for commits that these policies refuse.',
      examples: ["access request sales.orders --columns email --purpose 'Refund 4711' --seconds 7200"],
    },
  ),
  single(
    'access renew',
    'request_access',
    'ID --seconds N [--purpose TEXT] [--ticket TEXT]',
    'Asks for the renewal of an open grant of yours, from its end on',
    {
      details: 'It is for the same table, columns and filters, and is decided as every request.',
      members: { id: 'renews' },
      examples: ['access renew 5b0f9e4e-6f0a-4e2c-9a54-0d6a3b8e8c11 --seconds 7200'],
    },
  ),
  single(
    'access break-glass',
    'request_access',
    'TABLE --purpose TEXT --ticket TEXT --seconds N [--columns NAMES] [--filters IDS]',
    'Takes access at once, where the contract lets you; a steward reviews it afterwards',
    {
      details: 'It raises an alarm. Without --columns and --filters it is for all that is hidden from you.',
      fixed: { break_glass: true },
      examples: [
        "access break-glass sales.orders --purpose 'Outage of refunds' --ticket INC-7 --seconds 3600",
      ],
    },
  ),
  listing(
    'access requests',
    'list_access_requests',
    '[--state waiting|granted|denied|withdrawn|expired|to_review|confirmed|condemned] [--everyone] [--table TABLE]',
    'Lists requests for access',
    ['requested_at', 'state', 'table', 'by=requested_by.sub', 'purpose', 'id'],
    {
      examples: [
        'access requests --everyone --state waiting',
        'access requests --everyone --state to_review',
      ],
    },
  ),
  single('access show', 'get_access_request', 'ID', 'Shows a request, and what it would reveal'),
  single(
    'access decide',
    'decide_access_request',
    'ID --approves true|false --sha256 HASH [--comment TEXT]',
    'Approves or denies a request that somebody else made, or reviews break-glass',
    {
      details: '--sha256 is what `access show` printed, so that nothing else is decided than what you read.',
    },
  ),
  single('access withdraw', 'withdraw_access_request', 'ID', 'Withdraws a request of yours'),
  single('access revoke', 'revoke_access_grant', 'ID --reason TEXT', 'Ends a grant at once'),
]
