const magic = 'openssh-key-v1\0'
const armour = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/

/**
 * How often the pass phrase of a private key in OpenSSH's own format is hashed before it opens the key (the rounds
 * of its bcrypt, see PROTOCOL.key of OpenSSH); 0 for keys without, and for what is not in this format. 16 rounds
 * take the fifth of a second, in which the process does nothing else.
 */
export function passPhraseRounds(privateKey: string): number {
  const body = Buffer.from(armour.exec(privateKey)?.[1] ?? '', 'base64')
  if (!body.toString('latin1').startsWith(magic)) return 0
  const cipherEnd = endOfString(body, magic.length)
  const kdfEnd = endOfString(body, cipherEnd)
  // Its options are a string that holds the salt, a string, and the rounds.
  const saltEnd = endOfString(body, kdfEnd + 4)
  const isBcrypt = body.subarray(cipherEnd + 4, kdfEnd).toString('latin1') === 'bcrypt'
  return isBcrypt && saltEnd + 4 <= body.length ? body.readUInt32BE(saltEnd) : 0
}

/** Where the string that begins at `start` ends: four bytes of length, then its bytes. */
function endOfString(body: Buffer, start: number): number {
  return start + 4 <= body.length ? start + 4 + body.readUInt32BE(start) : body.length
}
