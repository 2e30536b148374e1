import { errorCodeOf } from './errors.ts'

/** What is wrong with a certificate, by the error codes of Node.js. */
const faults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'is signed by an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'is signed by an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is signed by an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'comes without the certificates between it and its authority, or the authority is not known here',
  CERT_SIGNATURE_FAILURE: 'is not signed by the authority that it names',
  CERT_REVOKED: 'is revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'names another host'
}

/** Returns what is wrong with a certificate, as the end of a sentence; null for any other error. */
export const findTlsFault = (error: unknown): string | null => faults[errorCodeOf(error)] ?? null
