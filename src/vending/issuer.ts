/** What a cloud must be able to do so that the service can issue credentials for its storage. AWS is the only one yet. */

/** What credentials allow. `write` includes `read`. */
export type CredentialAccess = 'read' | 'write'

export interface CredentialScope {
  /** Canonical prefixes, each with one trailing slash. Nothing outside of them may be reached. */
  readonly prefixes: readonly string[]
  readonly access: CredentialAccess
}

export interface CredentialRequest extends CredentialScope {
  /** Names the session at the cloud; from `sessionNameOf`. */
  readonly sessionName: string
  readonly lifetimeSeconds: number
}

export interface IssuedCredential {
  /** Identifies the credential without being secret. */
  readonly keyId: string
  /** The role or account for which it was issued. */
  readonly issuedFor: string
  readonly expiresAtMs: number
  /** The settings with which Iceberg's clients use it. Secret. */
  readonly config: Readonly<Record<string, string>>
}

/** Why a scope cannot be narrowed. Completes "credentials of this table …". */
export interface CannotNarrow {
  readonly refusal: string
}

export interface CredentialIssuer {
  /** The role or account for which credentials of an access are issued. */
  issuedFor(access: CredentialAccess): string
  /**
   * Issues one credential.
   * @returns a refusal where what it allows could not be limited to the scope: it is never widened
   * @throws Fault `upstream_failed` where the cloud refuses or cannot be reached
   */
  issue(request: CredentialRequest): Promise<IssuedCredential | CannotNarrow>
  /**
   * Ends what was issued to sessions, at once. Replaces what was denied before for the same role under the same name.
   * @param issuedFor as the credentials say
   * @param name of the denial; each tenant has its own
   * @throws Fault `upstream_failed` where the cloud refuses or cannot be reached
   */
  deny(issuedFor: string, name: string, sessionNames: readonly string[]): Promise<void>
}
