/** The header that has browsers save an answer as a file: its name in ASCII, and as it is (RFC 6266). */
export function attachment(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9 ._-]/g, '_')
  const whole = encodeURIComponent(name).replace(/['()*]/g, char => `%${char.charCodeAt(0).toString(16)}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`
}
