# Completion of tensorfs's command line in bash 4 and newer. It is found by the package bash-completion as
# share/bash-completion/completions/tensorfs, and needs nothing of it: to source this file does, too.
# tests/documents checks that it knows all verbs, flags and options, and no others.

_tensorfs() {
    local IFS=$' \t\n'
    local words=() cur= quote= kept= redirection=
    COMPREPLY=()
    _tensorfs_split
    if [[ $redirection ]]; then
        _tensorfs_leave_to_bash default
        return
    fi

    # What was typed before the word at the cursor.
    local verbs="mount ls info verify cat diff sum warm"
    local verb=mount is_first= arguments=() lists=() awaited= ended= word
    local rest=("${words[@]:1}")
    if ((${#rest[@]} == 0)); then
        is_first=1
    elif [[ " $verbs " == *" ${rest[0]} "* ]]; then
        verb=${rest[0]} rest=("${rest[@]:1}")
    fi
    for word in ${rest[@]+"${rest[@]}"}; do
        if [[ $awaited ]]; then
            [[ $awaited == -o ]] && lists+=(-o "$word")
            awaited=
        elif [[ $ended || $word != -?* ]]; then
            arguments+=("$word")
        elif [[ $word == -- ]]; then
            ended=1
        elif [[ $word == -o || $word == --format || $word == --slice ]]; then
            awaited=$word
        elif [[ $word == -o* ]]; then
            lists+=("$word")
        fi
    done

    if [[ $awaited == -o ]]; then
        _tensorfs_options
    elif [[ $awaited == --format ]]; then
        _tensorfs_offer raw npy f32 text
    elif [[ $awaited ]]; then
        :  # a slice is up to the user
    elif [[ ! $ended && $cur == --format=* ]]; then
        _tensorfs_offer --format={raw,npy,f32,text}
    elif [[ ! $ended && $cur == -* ]]; then
        _tensorfs_flags
    else
        case $verb:${#arguments[@]} in
            mount:0) _tensorfs_sources "${is_first:+$verbs}" ;;
            mount:1) _tensorfs_files folders ;;
            *:0 | diff:1 | verify:*) _tensorfs_sources ;;
            cat:1) _tensorfs_names ;;
            warm:*) _tensorfs_names is_pattern ;;
        esac
    fi
}

# Takes the line up to the cursor apart, as the shell does: `words`, and the word at the cursor, `cur`, without
# their quotes; the `quote` that is open there; and what of `cur` readline keeps as it is when it puts in what is
# in COMPREPLY: all up to an open quote, or else to the last character of COMP_WORDBREAKS that is not quoted.
_tensorfs_split() {
    local line=${COMP_LINE-} word char next i is_begun= before_quote= breaks=${COMP_WORDBREAKS-}
    if [[ $line ]]; then
        line=${line:0:COMP_POINT}
    else  # somebody fills in the words alone
        for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
            [[ $word == [=:] || $line == *[=:] || -z $line ]] || line+=' '
            line+=$word
        done
    fi
    for ((i = 0; i < ${#line}; ++i)); do
        char=${line:i:1} next=${line:i+1:1}
        if [[ $char == "$quote" ]]; then
            quote=
        elif [[ $quote == "'" ]]; then
            cur+=$char
        elif [[ $char == '\' ]]; then  # nothing is behind it where a word is half completed
            [[ $quote && $next && $next != [\\\"\$\`] ]] && cur+=$char
            cur+=$next is_begun=1
            ((++i))
        elif [[ $quote ]]; then
            cur+=$char
        elif [[ $char == [\'\"] ]]; then
            quote=$char before_quote=$cur is_begun=1
        elif [[ $char == [[:space:]\<\>\;\&\|\(\)] ]]; then
            [[ $is_begun && ! $redirection ]] && words+=("$cur")
            [[ $is_begun ]] && redirection=
            [[ $char == [\<\>] ]] && redirection=1
            cur= kept= is_begun=
        else
            cur+=$char is_begun=1
            [[ $breaks == *"$char"* ]] && kept=$cur
        fi
    done
    [[ $quote ]] && kept=$before_quote
}

# Lets bash and readline do what they do for a command that has no completion of its own.
_tensorfs_leave_to_bash() {
    compopt -o bashdefault -o "$1" 2>/dev/null
}

# Offers those of the words that fit. One that ends in "=" is not the end of what is typed.
_tensorfs_offer() {
    (($#)) && mapfile -t COMPREPLY < <(printf '%s\n' "$@" | _tensorfs_fitting)
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
}

# Of the lines read, those that begin with `cur`, less what is kept, with what the shell needs to be quoted.
# With separators, only as far as to the one behind what all have in common, where several go on from there: so
# names are completed as paths are.
_tensorfs_fitting() {
    CUR=$cur KEPT=$kept QUOTE=$quote SEPARATORS=${1-} IS_PATTERN=${2-} ENDED=${ended-} LC_ALL=C awk '
        function in_pattern(name,    parts, count, i, text) {
            count = split(name, parts, /\\\\/)
            for (i = 1; i <= count; ++i) {
                gsub(/[*?[]/, "\\\\&", parts[i])
                gsub(/\\x[0-9A-F][0-9A-F]|\\[nrt]/, "?", parts[i])
                text = text (i > 1 ? "\\\\" : "") parts[i]
            }
            return text
        }
        function quoted(text,    parts, count, i) {
            if (quote == "\"") {
                gsub(/[\\"$`]/, "\\\\&", text)
                gsub(/!/, "\"\047!\047\"", text)
            } else if (quote != "") {
                count = split(text, parts, quote)
                text = parts[1]
                for (i = 2; i <= count; ++i) text = text "\047\\\047\047" parts[i]
            } else {
                gsub(/[][ !"#$&\047()*;<>?\\`{|}~]/, "\\\\&", text)
            }
            # A quote in front, readline takes for the one that is open; and one at the end for the one that closes it.
            if (quote != "" && substr(text, 1, 1) == quote) text = quote text
            if (quote != "" && substr(text, length(text)) == quote) text = text quote
            return text
        }
        BEGIN {
            cur = ENVIRON["CUR"]
            quote = ENVIRON["QUOTE"]
            separators = ENVIRON["SEPARATORS"]
        }
        ENVIRON["IS_PATTERN"] { $0 = in_pattern($0) }
        /^-/ && separators != "" && !ENVIRON["ENDED"] { next }  # it would be taken for a flag
        $0 != "" && substr($0, 1, length(cur)) == cur {
            if (!count++) common = $0
            while (substr($0, 1, length(common)) != common) common = substr(common, 1, length(common) - 1)
            lines[count] = $0
        }
        END {
            for (i = 1; i <= count; ++i) {
                end = 0
                if (separators != "" && count > 1) end = match(substr(lines[i], length(common) + 1), "[" separators "]")
                part = end ? substr(lines[i], 1, length(common) + end) : lines[i]
                if (!members[part]++) parts[++different] = part
                whole[part] = lines[i]
            }
            if (count && ENVIRON["IS_PATTERN"] && index(separators, substr(cur, length(cur)))) parts[++different] = cur "*"
            for (i = 1; i <= different; ++i) {
                part = members[parts[i]] == 1 ? whole[parts[i]] : parts[i]
                print quoted(substr(part, length(ENVIRON["KEPT"]) + 1))
            }
        }'
}

_tensorfs_flags() {
    case $verb in
        mount) _tensorfs_offer -f --foreground -d --debug -o -h --help ${is_first:+-V --version} ;;
        ls) _tensorfs_offer --json --names -o -h --help ;;
        info) _tensorfs_offer --json -o -h --help ;;
        cat) _tensorfs_offer --format --slice -o -h --help ;;
        verify | diff | sum | warm) _tensorfs_offer -o -h --help ;;
    esac
}

# The last of the options of a list such as "index=NAME,partial".
_tensorfs_options() {
    local names="index= variant= revision= partial" front= last=$cur values=() name
    case $verb in
        verify) names="index= variant= revision=" ;;
        sum) names+=" separators=" ;;
        mount)
            names+=" separators= uid= gid= umask= cache= threads= idle= log= allow_other allow_root auto_unmount"
            names+=" max_read= baseline fsname="
            ;;
    esac
    [[ $cur =~ ^(.*[^\\],)?([^,]*)$ ]] && front=${BASH_REMATCH[1]} last=${BASH_REMATCH[2]}
    case $last in
        cache=*) values=(keep once direct) ;;
        log=*) values=(error warning info debug) ;;
        index=*) mapfile -t values < <(_tensorfs_names_in "${arguments[0]-}" '*.json') ;;
        revision=*)
            name=$(_tensorfs_hub_cache)/models--${arguments[0]//\//--}
            [[ -d ${arguments[0]-} ]] && name=${arguments[0]}
            mapfile -t values < <(_tensorfs_names_in "$name/refs" '*'; _tensorfs_names_in "$name/snapshots" '*')
            ;;
        *=*) ;;
        *)
            for name in $names; do values+=("$front$name"); done
            _tensorfs_offer "${values[@]}"
            return
            ;;
    esac
    _tensorfs_offer "${values[@]/#/$front${last%%=*}=}"
}

# Names in a folder, by a pattern; a comma in a value of -o has a backslash before it.
_tensorfs_names_in() {
    local path
    [[ $1 ]] && compgen -G "$(printf %q "$1")/$2" | while IFS= read -r path; do
        path=${path##*/}
        printf '%s\n' "${path//,/\\,}"
    done
}

# The tensors' names, or patterns for them, of the source that was typed. A mount shows all as one file.
_tensorfs_names() {
    local source=${arguments[0]} program=${words[0]}
    [[ $source == '~'/* ]] && source=${HOME-}${source#'~'}
    [[ $program == '~'/* ]] && program=${HOME-}${program#'~'}
    [[ ${1-} && -d $source/.tensorfs ]] && source+=/.tensorfs/model.safetensors
    mapfile -t COMPREPLY < <(command "$program" ls --names ${lists[@]+"${lists[@]}"} -- "$source" 2>/dev/null </dev/null |
        _tensorfs_fitting ./ ${1+"$1"})
    compopt -o nosort 2>/dev/null  # ls has the natural order; bash has this since 4.4
}

# Models, and words that may stand for one.
_tensorfs_sources() {
    local word folder more=${1-} cache
    if [[ $cur != [./~$]* ]]; then
        cache=$(_tensorfs_hub_cache)
        while IFS= read -r folder; do
            word=${folder##*/models--}
            word=${word/--//}
            [[ $cur == */* || $word != */* ]] || word=${word%%/*}/
            [[ " $more " == *" $word "* ]] || more+=" $word"
        done < <(compgen -G "$(printf %q "$cache")/models--*")
    fi
    _tensorfs_files models
    for word in $more; do
        [[ $word == "$cur"* ]] && COMPREPLY+=("${word#"$kept"}")
    done
    [[ ${#COMPREPLY[@]} == 1 && " $more " == *" $kept${COMPREPLY[0]} "* && ${COMPREPLY[0]} == */ ]] &&
        compopt -o nospace 2>/dev/null
}

# Folders, and files that can be models.
_tensorfs_files() {
    local found=() path pattern=
    if [[ $cur == [~$]* ]]; then  # to be expanded, and left as it was typed
        if [[ $1 == folders ]]; then _tensorfs_leave_to_bash dirnames; else _tensorfs_leave_to_bash default; fi
        return
    fi
    [[ $cur ]] && printf -v pattern %q "$cur"
    mapfile -t found < <(compgen -G "$pattern*")
    for path in ${found[@]+"${found[@]}"}; do
        if [[ -d $path || ($1 == models && $path == *.@(safetensors|json)) ]]; then COMPREPLY+=("${path#"$kept"}"); fi
    done
    compopt -o filenames 2>/dev/null
}

# Where the Hub's libraries keep models.
_tensorfs_hub_cache() {
    local cache=${HF_HUB_CACHE:-${HF_HOME:+$HF_HOME/hub}}
    cache=${cache:-${XDG_CACHE_HOME:-${HOME-}/.cache}/huggingface/hub}
    [[ $cache == '~'/* ]] && cache=${HOME-}${cache#'~'}
    printf '%s\n' "$cache"
}

complete -F _tensorfs tensorfs
