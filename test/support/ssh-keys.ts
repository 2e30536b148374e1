/**
 * Public keys as OpenSSH 9.2 writes them, one of each type that can log in. Their private keys were deleted.
 * The two `sk-` keys were assembled manually according to OpenSSH's PROTOCOL.u2f, with the points of the
 * others.
 */
export const sshKeys = {
  ed25519: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA1el0WYaacQSPjCd+p5B7MRU+GS0eWewDNADLbwElnR dj@studio',
  rsa2048:
    'ssh-rsa ' +
    'AAAAB3NzaC1yc2EAAAADAQABAAABAQC56JnDCJduZwHkCpsVnM9GlZILumUBfaViOOUg1G/q4AMhm7iKKZUpbunrrG6lpeJw' +
    'lHU7INGI3weV34TIFoyQamJfCiS4oNIw9bwPZleThITzCbf8s8NYTHTminvdvHB6zZPSI4tx4YQjwc/iWSKyrKxTMHssgAwx' +
    't9CaD2t+Qqs6F9Z8E5R/zyXt/q+V2NhgHykl4GJbJPSemmBdL8e1vTcFf+Xl9FJw4IUko689GKHuW1OK+tGXjWk6iKp67wLD' +
    'YlZoWLwwY0wxu7Sq4xx6plbL0O8phcUKeqFFJ0GMn5O+yHh+yJV+S2QAksn9FPkxZD+RqM/JRPdzkifpSzKB dj@studio',
  rsa3072:
    'ssh-rsa ' +
    'AAAAB3NzaC1yc2EAAAADAQABAAABgQDuAKP/jQQ1qD9mcFXsslL9O/104Kfj+WzjzaadHdhHfGeG2j59ET+dQhmAXkFEadso' +
    'YDT5cUCrgtUBIs08LpCmNNaxq/3ApyNbhHlSEb6YpJi5o4ktzRHvcAOqiCpTn5Fgb9wLZ8vLHbjnr4l6/sYiAiLzhqOFHPDT' +
    'Fh+9/5V5L8gDJb1RXm9HMO7RJWsuVjY5Ad9qaOh2QZQ5Fhi8mx7Ccz9T7i3OFX4Qs6W5gFYLd6LyMeIT9D3nQ3xJuqCi9kb4' +
    'bysEX2uTRCPKG04Z0Eyjg+xMUHonllK7GlvESAuBpWzpPMDIF66xR2H5tC1nloptNFauqMOK6RSKess2mq+/v6pYjYCa7/YN' +
    'KGPvXuzYhxtyKZ6MQgNwSMYZAZVRH1uh2Mv5IiNr5WJ8lEQ17tbvFPQIfdGACrgouHj0COl9xb2czmZrz6ybEXUlYqulmFor' +
    'ZeDV96IoNBJqCxg4utXd0BBEri4hu1L2uWx5InL2HaYf+cOHwz8YXdymk8DvL2E= dj@studio',
  ecdsa256:
    'ecdsa-sha2-nistp256 ' +
    'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBJLm59yow1yvNZgHOLPShhK8h0R1YeLiuymRUEylUfCc' +
    'mncxnwaWEcobISDHLXJNEnsIOijI13haTlPAN6zfll4= dj@studio',
  ecdsa384:
    'ecdsa-sha2-nistp384 ' +
    'AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBP9eXuMlRaMqFsOZ6eVKb28BQ2VNbwCXtAn4U4jdvw78' +
    'LYlEiOmDiebNGq1BXo7XJC5xrA37EDl9HQTFO+cCpzB6wp+ziZTCF9gd8IjxMcMM+n+tqj1K141N9z6+eJeVmg== dj@studio',
  ecdsa521:
    'ecdsa-sha2-nistp521 ' +
    'AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAG5weMz8e2Ju0o1Q8vS3GTRck/uSiYUz9uAnEfRuCuz' +
    '0faH/rPkPjMRoVvgmBzAo7X01TqqzLkJVZbq3fF2Rvhj0wH/iTekBFzEAMnI171X8XksQStApwxiAN0BwyLapFt+wOExNOOt' +
    '6+Nmal9Pd5N4uAYS9pcS5S5/Uczn/tmZZu3D+Q== dj@studio',
  skEd25519:
    'sk-ssh-ed25519@openssh.com ' +
    'AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIA1el0WYaacQSPjCd+p5B7MRU+GS0eWewDNADLbwElnRAAAABHNz' +
    'aDo= dj@studio',
  skEcdsa256:
    'sk-ecdsa-sha2-nistp256@openssh.com ' +
    'AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBJLm59yow1yvNZgHOLPShhK8' +
    'h0R1YeLiuymRUEylUfCcmncxnwaWEcobISDHLXJNEnsIOijI13haTlPAN6zfll4AAAAEc3NoOg== dj@studio'
}

/** A valid key that is too short to log in. */
export const rsaKeyOf1024Bits =
  'ssh-rsa ' +
  'AAAAB3NzaC1yc2EAAAADAQABAAAAgQDOFWM/Yc0pOsy9VAfZEHAOFQ+E9Uj++H6E/1wksl5W+GI93DRlaF5UUhFS6UqUN/0e' +
  'IB0HsU9AV38jboTacszZdHV7seEh/V4bk/7PUvmGAQMDBBY1NMK9eCs+T58QAVPyP2JqRnY998td+xb1T4iApPCr9RbtlJMh' +
  'C2rM1juO7Q== dj@studio'
