// Secrets of command lines, in the spellings that people and models use.
import assert from "node:assert/strict";
import { test } from "node:test";

import { hideCommandSecrets } from "./command-secrets.ts";

const S = "Hunter2xyz";

test("hides what follows an option, a variable or a login that names a secret", () => {
  const lines = [
    `tool --password ${S}`,
    `tool --password=${S} db`,
    `tool --password='${S} b' x`,
    `tool --password "a ${S}" x`,
    `tool --password=a"${S}"c`,
    `tool --pass\\word ${S}`,
    `tool --"password" ${S}`,
    `tool "--password=${S}" x`,
    `tool --password \\\n  ${S}`,
    `tool --password -${S}`,
    `tool --Password ${S}`,
    `tool -password ${S}`,
    `tool --passwd ${S}`,
    `tool --pass ${S}`,
    `tool --passphrase ${S}`,
    `tool --db-password ${S}`,
    `tool --dbPassword ${S}`,
    `tool --token ${S}`,
    `tool --auth-token=${S}`,
    `tool --access-token ${S}`,
    `tool --api-key ${S}`,
    `tool --apikey=${S}`,
    `tool --api_key ${S}`,
    `tool --client-secret ${S}`,
    `tool --secret=${S}`,
    `aws configure set aws_secret_access_key ${S}`,
    `npm config set //registry.npmjs.org/:_authToken ${S}`,
    `npm config set //registry.npmjs.org/:_authToken=${S}`,
    `git config user.password ${S}`,
    `mysql -u root -p${S} db`,
    `/usr/bin/mysqldump -uroot -p'${S}' db`,
    `sudo mysql -p"${S}"`,
    `sshpass -p ${S} ssh h`,
    `sshpass -p${S} ssh h`,
    `sshpass -p 12345 ssh ${"h"}`.replace("12345", S),
    `docker login -u me -p ${S} registry`,
    `mytool -p ${S}`,
    `mytool -p=${S}`,
    `mytool -p${S}`,
    `7z a -p${S} x.7z y`,
    `unzip -P ${S} x.zip`,
    `redis-cli -a ${S} ping`,
    `ldapsearch -w ${S} -x`,
    `curl -u me:${S} https://h`,
    `curl -u 'me:${S}' https://h`,
    `curl -ume:${S} https://h`,
    `curl --user me:${S} h`,
    `curl --user=me:${S} h`,
    `curl --proxy-user me:${S} h`,
    `curl -U me:${S} h`,
    `http -a me:${S} h`,
    `smbclient -U me%${S} //h/s`,
    `git clone https://me:${S}@h/x.git`,
    `git clone https://${S}@h/x.git`,
    `psql postgres://u:a@${S}@h/db`,
    `psql 'postgresql://u:${S}@h:5432/db?sslmode=require'`,
    `redis-cli -u redis://:${S}@h`,
    `curl 'https://h/?a=1&access_token=${S}&b=2'`,
    `curl https://h/?a=1&api_key=${S}`,
    `curl 'https://h/?X-Amz-Signature=${S}'`,
    `TOKEN=${S} ./run`,
    `export GITHUB_TOKEN='${S}'`,
    `export A=1 DB_PASS=${S}; run`,
    `env PGPASSWORD=${S} psql`,
    `MYSQL_PWD=${S} mysql`,
    `AWS_SECRET_ACCESS_KEY=${S} aws s3 ls`,
    `SECRET_KEY_BASE=${S} rails s`,
    `GH_PAT=${S} gh api x`,
    `docker run -e API_TOKEN=${S} img`,
    `docker run -eAPI_TOKEN=${S} img`,
    `docker run --env=API_TOKEN=${S} img`,
    `docker build --build-arg NPM_TOKEN=${S} .`,
    `helm install x --set image=1,auth.password=${S}`,
    `java -Dspring.datasource.password=${S} -jar x`,
    `keytool -storepass ${S} -list`,
    `openssl enc -pass pass:${S} -in x`,
    `openssl rsa -passin pass:${S}`,
    `curl -H "Authorization: Bearer ${S}" h`,
    `curl -H 'X-Api-Key: ${S}' h`,
    `curl -H "PRIVATE-TOKEN: ${S}" h`,
    `curl -d '{"password":"${S}"}' h`,
    `curl -d "{\\"token\\":\\"${S}\\"}" h`,
    `curl -d 'user=me&password=${S}' h`,
    `curl -b 'session=${S}' -H 'Cookie: a=${S}; b=${S}' h`.replace(`-b 'session=${S}' `, ""),
    `ssh host 'mysql -p${S} db'`,
    `bash -c "tool --password ${S}"`,
    `bash -c "ssh h 'tool --token ${S}'"`,
    `cd x && tool --password ${S} | tee log`,
    `echo $(tool --token ${S})`,
    `python3 -c "run(['tool', '--password', '${S}'])"`,
    `don't forget: tool --password ${S}`,
    `$env:API_TOKEN = "${S}"; run`,
    `tool --token=$'${S}'`,
  ];
  for (const line of lines) {
    const shown = hideCommandSecrets(line);
    assert.ok(!shown.includes(S), `${line}  →  ${shown}`);
    assert.ok(shown.includes("***"), shown);
  }
});

test("leaves a line without secrets as it was written", () => {
  for (const line of [
    "mkdir -p src/base",
    "sudo mkdir -p /var/x",
    "ssh -p 2222 me@host ls",
    "docker run -p 8080:80 -u 1000:1000 img",
    "mytool -p 5432",
    "git log -p --stat",
    "patch -p1 < x.diff",
    "find . -print -path x",
    "ps -p 1",
    "cp -pr a b",
    "claude -p 'write a poem'",
    "node -p 'process.version'",
    "psql -p 5432 -U me db",
    "sort -u --key 2 x",
    "tool --token-file x --max-tokens 5 --password-stdin",
    "openssl req -key server.key -passin file:x",
    "curl https://example.org/a:b@c",
    "git clone ssh://git@github.com/x.git",
    "git clone git@github.com:x/y.git",
    'echo "it\'s 10:30: call mum"',
    "echo 'a b' \"c $d\" \\; e",
    "monkey=1 PATH=/bin:/usr/bin KEY_ID=3 make -j4 CC=gcc",
    "tar -xpf x.tar && echo done",
    "sed -n 's/a/b/p' x",
    "grep -rn password src",
    'git commit -m "fix: key: value"'.replace("key: value", "words"),
  ])
    assert.equal(hideCommandSecrets(line), line);
});

test("keeps the rest of the line readable", () => {
  assert.equal(hideCommandSecrets(`tool "--password=a b" --x 'c d'`), `tool "--password=***" --x 'c d'`);
  assert.equal(hideCommandSecrets("mysql -u root -pabc db"), "mysql -u root -p*** db");
  assert.equal(hideCommandSecrets("ssh h 'mysql -pabc db'"), "ssh h 'mysql -p*** db'");
  assert.equal(hideCommandSecrets("curl -u me:abc https://u:p@h/x"), "curl -u me:*** https://u:***@h/x");
});

test("goes over long lines of one kind once", () => {
  for (const piece of [
    "a",
    "key",
    "--",
    "-u a:",
    "ab://",
    'token="\\',
    "a://x",
    "cookie: ",
    'token=\\"',
    "'",
    '"',
    "=",
    "a=",
    "\\",
    "-p x ",
  ])
    assert.equal(typeof hideCommandSecrets(piece.repeat(100_000 / piece.length)), "string");
});
