/** Text as AzuraCast makes names of it for addresses and files: without most punctuation, in lower case. */
export const deriveAzuracastName = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\s\-~,;[\]().]/gu, '')
    .replace(/\.{2,}/g, '.')
    .replaceAll(' ', '_')
    .toLowerCase()
