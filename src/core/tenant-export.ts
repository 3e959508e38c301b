/** The parts of a tenant's export, each a file of JSON Lines, and what each holds. */

export const exportParts = {
  contracts: 'every version of every contract, with its document and the document’s SHA-256',
  'contract-moves': 'how versions went through their life cycle',
  'contract-sign-offs': 'the sign-offs of versions',
  policies: 'every change of a policy, in order: put, bound, unbound',
  tags: 'every tag that was put or removed',
  decisions:
    'the decisions on commits, each with the SHA-256 of the request’s body; the bodies are not in it',
  unjudged: 'changes that no policy could judge',
  changes: 'changes of contracts, masks, filters, tags, pins, metrics and settings',
  administration: 'the administration log',
  holds: 'legal holds, also those that were released',
  usage: 'queries and raw reads',
} as const
export type ExportPart = keyof typeof exportParts
export const exportPartNames = Object.keys(exportParts) as readonly ExportPart[]
