import ssh2, { type Connection, type FileEntry } from 'ssh2'

/** An SFTP server with behavior that OpenSSH does not have. */
export interface OddSftpServer extends AsyncDisposable {
  readonly port: number
}

/**
 * Starts a server that requests the password by keyboard-interactive authentication only. It returns
 * `entries` in every folder, or does not offer SFTP without them.
 */
export async function startOddSftpServer(
  password: string,
  entries: readonly FileEntry[] | null
): Promise<OddSftpServer> {
  // One in 256 ed25519 keys that ssh2 1.17 generates is broken (ssh2 issue 1513).
  const { private: hostKey } = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 })
  const clients = new Set<Connection>()
  const server = new ssh2.Server({ hostKeys: [hostKey] }, client => {
    clients.add(client)
    client.on('error', () => {})
    client.on('close', () => clients.delete(client))
    client.on('authentication', attempt => {
      if (attempt.method !== 'keyboard-interactive') return attempt.reject(['keyboard-interactive'])
      attempt.prompt([{ prompt: 'Password: ', echo: false }], ([response]) => {
        if (response === password) attempt.accept()
        else attempt.reject()
      })
    })
    client.on('session', accept => {
      const session = accept()
      if (entries !== null) session.on('sftp', acceptSftp => show(acceptSftp(), entries))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) client.end()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

function show(sftp: ssh2.SFTPWrapper, entries: readonly FileEntry[]): void {
  const { STATUS_CODE } = ssh2.utils.sftp
  const shown = new Set<string>()
  let opened = 0
  sftp.on('OPENDIR', id => sftp.handle(id, Buffer.from(String((opened += 1)))))
  sftp.on('READDIR', (id, handle) => {
    if (shown.has(handle.toString())) return sftp.status(id, STATUS_CODE.EOF)
    shown.add(handle.toString())
    sftp.name(id, [...entries])
  })
  sftp.on('CLOSE', id => sftp.status(id, STATUS_CODE.OK))
}
